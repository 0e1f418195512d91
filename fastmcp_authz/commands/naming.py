"""Names on a command line: what they mean, and what is near one that means nothing."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from fastmcp_authz.commands.loading import CannotRunError
from fastmcp_authz.errors import listed, near_names
from fastmcp_authz.survey.places import Place
from fastmcp_authz.survey.survey import Survey, SurveyedTool


def the_tool(survey: Survey, name: str) -> SurveyedTool:
    """The tool of that name.

    Raises:
        CannotRunError: There is none.
    """
    found = survey.tool(name)
    if found is None:
        raise CannotRunError(f"There is no tool {name!r}. {nearest(name, [each.name for each in survey.tools])}")
    return found


def nearest(name: str, known: Sequence[str]) -> str:
    """What to write instead: the names that are nearest, or all of them where none is near."""
    last = [each for each in known if each.rpartition(".")[2] == name]  # `email` for `applicants[].email`
    near = last or near_names(name, known, most=3)
    if near:
        return f"Did you mean {' or '.join(near)}?"
    return f"There are: {listed(known)}." if known else "There are none."


def shown_place(place: Place) -> str:
    """A place as people here would name it: by a path from where they are, if it is below."""
    return str(Place(shown_path(place.file), place.line))


def shown_path(file: str) -> str:
    """A path from here for what is below, the whole path for what is elsewhere."""
    path, here = Path(os.path.abspath(file)), Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)
