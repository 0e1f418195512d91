"""Text to syntax: docstrings and shared `.rbs` files in, syntax trees and problems out. No schemas, no callers."""

from fastmcp_authz.annotations.docstring import Opening
from fastmcp_authz.annotations.library import Library, shared_folders
from fastmcp_authz.annotations.reader import declares_input, read_annotation
from fastmcp_authz.annotations.syntax import (
    Alias,
    Annotation,
    Field,
    Import,
    Intersection,
    Literal,
    Name,
    Nilable,
    Record,
    Signature,
    Source,
    Span,
    Tag,
    Tagged,
    Tuple,
    Type,
    Union,
)

__all__ = [
    "Alias",
    "Annotation",
    "Field",
    "Import",
    "Intersection",
    "Library",
    "Literal",
    "Name",
    "Nilable",
    "Opening",
    "Record",
    "Signature",
    "Source",
    "Span",
    "Tag",
    "Tagged",
    "Tuple",
    "Type",
    "Union",
    "declares_input",
    "read_annotation",
    "shared_folders",
]
