"""An HTML document without external resources: head, style sheet and the reader's colour scheme."""

from __future__ import annotations

from .css import CSS
from .html import Html, tag

POLICY = "default-src 'none'; style-src 'unsafe-inline'"
"""The page may load nothing; only its own style sheet is allowed."""


def document(title: str, *body: Html) -> str:
    """Return the document, including the doctype."""
    head = tag(
        "head",
        Html('<meta charset="utf-8">'),
        Html('<meta name="viewport" content="width=device-width, initial-scale=1">'),
        Html(f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'),
        Html('<meta name="color-scheme" content="light dark">'),
        tag("title", title),
        tag("style", Html(CSS)),
    )
    return f"<!DOCTYPE html>\n{tag('html', head, tag('body', *body), lang='en')}\n"
