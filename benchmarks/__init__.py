"""What the library costs above plain FastMCP: `python -m benchmarks`, or one of its modules by itself."""

import logging

# The warnings, that results were cut, are what the benchmarks are made for. Errors are not.
logging.getLogger("fastmcp_authz").setLevel(logging.ERROR)
