# Prints, for each table below a folder, the rows of the current and of the first snapshot as pyiceberg reads them.
# Usage: read-tables.py FOLDER [URI OF A REST CATALOG]
import json
import sys
from datetime import datetime, timezone

from pyiceberg.catalog.rest import RestCatalog
from pyiceberg.table import StaticTable

folder, *uri = sys.argv[1:]
catalog = RestCatalog("test", uri=uri[0]) if uri else None


def table(name):
    if catalog:
        return catalog.load_table(("walletlake", name))
    version = open(f"{folder}/{name}/metadata/version-hint.text").read()
    return StaticTable.from_metadata(f"file://{folder}/{name}/metadata/v{version}.metadata.json")


def text(cell):
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, datetime):
        return cell.astimezone(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.") + f"{cell.microsecond // 1000:03}Z"
    return str(cell)


def rows(each, snapshot_id):
    scan = each.scan(snapshot_id=snapshot_id).to_arrow()
    return [{name: text(cell) for name, cell in row.items()} for row in scan.to_pylist()]


def describe(name):
    each = table(name)
    snapshots = each.metadata.snapshots
    if not snapshots:
        return {"snapshots": 0, "first": [], "last": []}
    first, last = snapshots[0].snapshot_id, each.metadata.current_snapshot_id
    return {"snapshots": len(snapshots), "first": rows(each, first), "last": rows(each, last)}


manifest = json.load(open(f"{folder}/manifest.json"))
print(json.dumps({name: describe(name) for name in manifest["tables"]}))
