# make demo   a running gateway with sample mail, to look at
# make test   every check and every test
# make docs   docs/configuration.md and docs/tools.md, from the code
# The first two do all their own set-up; the first run takes a minute or two.

.PHONY: demo test docs lock clean

demo:
	@scripts/install demo
	@.venv/bin/postroom demo $(ARGS)

test:
	@scripts/install dev
	@scripts/install-judges
	@scripts/install-servers
	@scripts/check $(ARGS)

docs:
	@.venv/bin/python -m scripts.docs

lock:
	@scripts/lock

clean:
	rm -rf .venv .cache .hypothesis .mypy_cache .ruff_cache .import_linter_cache build dist
