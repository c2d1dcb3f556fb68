"""For addresses of the web and of mail: found in text, cleaned as a browser does, unwrapped, and judged."""

from postroom.mail.url.find import find_urls
from postroom.mail.url.target import Target, host_in_label, is_mismatch, is_suspicious_scheme, read_url

__all__ = ["Target", "find_urls", "host_in_label", "is_mismatch", "is_suspicious_scheme", "read_url"]
