"""The pages that are open without a token: /health, /openapi.json and /docs; made once, from the catalogue."""

from __future__ import annotations

import html
from collections.abc import Callable
from typing import Any

import orjson
from starlette.responses import Response

from postroom.base.errors import Code, GatewayError
from postroom.surfaces.openapi import openapi
from postroom.surfaces.responses import error_response, json_response

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:52rem;margin:2rem auto;padding:0 1rem;color:#222}"
    "code{background:#f3f3f3;padding:.1em .3em;border-radius:3px}h2{margin:2rem 0 .3rem}"
    "table{border-collapse:collapse;width:100%}td,th{text-align:left;padding:.2rem .8rem .2rem 0;vertical-align:top}"
    "@media(prefers-color-scheme:dark){body{background:#161616;color:#ddd}code{background:#2a2a2a}}"
)


class Documents:
    """Answers by path, static but for /health, which says when the configuration's file is not the one in force."""

    def __init__(self, public_url: str, is_stale: Callable[[], bool] = lambda: False) -> None:
        document = openapi(public_url)
        self._is_stale = is_stale
        self._pages = {
            "/health": ("application/json", orjson.dumps({"status": "ok"})),
            "/openapi.json": ("application/json", orjson.dumps(document)),
            "/docs": ("text/html; charset=utf-8", page(document).encode()),
        }

    def __contains__(self, path: str) -> bool:
        return path in self._pages

    def find(self, method: str, path: str) -> Response | None:
        page = self._pages.get(path)
        if page is None:
            return None
        if method not in ("GET", "HEAD"):
            error = GatewayError(Code.METHOD_NOT_ALLOWED, "Use GET here.", allow=["GET"])
            return error_response(error, {"Allow": "GET"})
        media_type, body = page
        if path == "/health" and self._is_stale():
            body = orjson.dumps({"status": "ok", "config": "stale"})
        response = json_response(None)
        headers = dict(response.headers) | {"Content-Security-Policy": _POLICY}
        for name in ("content-length", "content-type"):
            headers.pop(name)
        return Response(body, headers=headers, media_type=media_type)


def page(document: dict[str, Any]) -> str:
    """An OpenAPI document for people: one file of HTML, without scripts, that needs nothing from elsewhere."""
    sections = "".join(
        _section(method, path, item) for path, methods in document["paths"].items() for method, item in methods.items()
    )
    title, version, description = (html.escape(document["info"][key]) for key in ("title", "version", "description"))
    return (
        f"<!doctype html><html lang=en><meta charset=utf-8><title>{title}</title><style>{_STYLE}</style>"
        f"<h1>{title} {version}</h1><p>{description}</p>"
        f"<p>Every call needs <code>Authorization: Bearer TOKEN</code>. The same operations are MCP tools at "
        f"<code>/mcp</code>. Machine-readable: <a href=/openapi.json>/openapi.json</a>.</p>{sections}</html>"
    )


def _section(method: str, path: str, item: dict[str, Any]) -> str:
    rows = "".join(
        f"<tr><td><code>{html.escape(one['name'])}</code><td>{html.escape(one['in'])}<td>{html.escape(_kind(one['schema']))}"
        for one in _arguments(item)
    )
    table = f"<table><tr><th>argument<th>in<th>type{rows}</table>" if rows else ""
    return (
        f"<h2><code>{html.escape(f'{method.upper()} {path}')}</code></h2>"
        f"<p><b>{html.escape(item['operationId'])}</b>: {html.escape(item['description'])}</p>{table}"
    )


def _arguments(item: dict[str, Any]) -> list[dict[str, Any]]:
    body = item.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
    inside = [{"name": name, "in": "body", "schema": schema} for name, schema in body.get("properties", {}).items()]
    return [*item["parameters"], *inside]


def _kind(schema: dict[str, Any]) -> str:
    if "enum" in schema:
        return " | ".join(schema["enum"])
    kind = str(schema.get("type", ""))
    return f"{kind} of {schema['items'].get('type')}" if kind == "array" and "items" in schema else kind
