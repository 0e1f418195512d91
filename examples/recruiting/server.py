"""A recruiting server: one set of functions, a different set of tools for each person.

    RECRUITING_PERSON=operator fastmcp run examples/recruiting/server.py      # stdio, as the operator
    fastmcp run examples/recruiting/server.py --transport http                # HTTP, as whoever the bearer token names

The functions below never ask who is calling. They return all they know; the annotations say who gets what of it.
"""

from __future__ import annotations

from typing import Any

from fastmcp import FastMCP

import database
from fastmcp_authz import Authz, authorized_tool
from people import CALLERS, PERSONAS, caller_of
from tokens import signing_in

verifier, print_tokens = signing_in(CALLERS)
mcp = FastMCP("recruiting", auth=verifier, lifespan=print_tokens)
Authz(mcp, context=caller_of, personas=PERSONAS)


@mcp.tool
@authorized_tool(authorization="view_applicants")
def list_applicants(
    query: str | None = None, page: int = 1, per_page: int = 10, include_archived: bool = False
) -> dict[str, Any]:
    """List the applicants, page by page.

    @rbs import applicant
    @rbs type output = { applicants: Array[applicant], page: Integer, pages: Integer }

    #: (
    #:   ?query: String            @requires(:search) @min(1) @desc(Part of a name),
    #:   ?page: Integer            @min(1) @default(1),
    #:   ?per_page: Integer        @min(1) @max(50) @default_for(:per_page),
    #:   ?include_archived: bool   @requires(:view_archived) @default(false)
    #: ) -> output
    """
    found = database.find(query, archived=include_archived)
    start = (page - 1) * per_page
    return {
        "applicants": found[start : start + per_page],
        "page": page,
        "pages": -(-len(found) // per_page),
    }


@mcp.tool
@authorized_tool(authorization="view_applicants")
def search_applicants(name: str) -> dict[str, Any]:
    """Find applicants by name.

    @rbs import applicant
    @rbs type output = { matches: Array[applicant] }

    #: (name: String @min(2) @desc(At least two letters of it)) -> output
    """
    return {"matches": database.find(name)}


@mcp.tool
@authorized_tool(authorization="manage_workflows")
def advance_step(
    applicant_id: str, workflow_id: str, stage_id: str | None = None, reason: str | None = None
) -> dict[str, Any]:
    """Move an applicant to the next stage of a workflow.

    @rbs import applicant
    @rbs import error
    @rbs type success = { success: true, applicant_id: String, stage: stage }
    @rbs type rerouted = { success: true, applicant_id: String, stage: stage, rerouted_from: stage, reason: String }
    @rbs type output = success
                     | rerouted @requires(:backward_routing)
                     | error

    #: (
    #:   applicant_id: String   @desc(As list_applicants gives it),
    #:   workflow_id: String    @desc(`hiring` is the only one),
    #:   ?stage_id: stage       @requires(:backward_routing) @desc(Move here instead, also backwards),
    #:   ?reason: String        @requires(:backward_routing) @depends_on(:stage_id) @min(1) @desc(Why there)
    #: ) -> output
    """
    if workflow_id != "hiring":
        return failure(f"There is no workflow {workflow_id!r}; the only one is 'hiring'.")
    applicant = database.get(applicant_id)
    if applicant is None:
        return failure(f"There is no applicant {applicant_id!r}; list_applicants gives the ids.")
    if stage_id is None and applicant.stage == database.STAGES[-1]:
        return failure(f"{applicant.name} is at the last stage already.")

    stage = stage_id or database.STAGES[database.STAGES.index(applicant.stage) + 1]
    database.move(applicant_id, stage, reason)
    moved = {"success": True, "applicant_id": applicant_id, "stage": stage}
    return moved if stage_id is None else {**moved, "rerouted_from": applicant.stage, "reason": reason}


@mcp.tool
@authorized_tool(authorization="comms", gates=[("feature", "sms")])
def bulk_send_sms(applicant_ids: list[str], body: str) -> dict[str, Any]:
    """Send one text message to many applicants.

    @rbs import error
    @rbs type sent = { success: true, queued: Integer }
    @rbs type output = sent | error

    #: (
    #:   applicant_ids: Array[String]   @min(1) @max(500) @unique(),
    #:   body: String                   @min(1) @max(160)
    #: ) -> output
    """
    queued = database.queue_messages(applicant_ids, body)
    return {"success": True, "queued": queued} if queued else failure("None of these applicants exists.")


def failure(message: str) -> dict[str, Any]:
    return {"success": False, "message": message}


if __name__ == "__main__":
    mcp.run()
