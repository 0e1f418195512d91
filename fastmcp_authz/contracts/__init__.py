"""What one caller may see of what a docstring declares."""

from .contract import ToolContract
from .view import CallerView

__all__ = ["CallerView", "ToolContract"]
