"""Every benchmark, and the whole table as Markdown: `python -m benchmarks [--quick]`. Takes under five minutes."""

from benchmarks.asking import asking
from benchmarks.calling import calling
from benchmarks.declaring import declaring
from benchmarks.first_listing import first_listing
from benchmarks.growth import growth
from benchmarks.importing import importing
from benchmarks.listing import listing
from benchmarks.many_rows import many_rows
from benchmarks.memory import memory
from benchmarks.peers import peers
from benchmarks.table import run

if __name__ == "__main__":
    run(listing, calling, many_rows, first_listing, declaring, importing, asking, memory, growth, peers)
