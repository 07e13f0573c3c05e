# A REST catalog in memory, whose rules are pyiceberg's own: it validates requirements and applies updates.
# Prints its port. POST /refuse makes it refuse all commits; POST /accept ends that. PUT and DELETE of
# /metadata/NAMESPACE/tables/TABLE replace and drop a table without any rules.
import json
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from pydantic import TypeAdapter
from pyiceberg.exceptions import CommitFailedException
from pyiceberg.partitioning import PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table.metadata import TableMetadataUtil, new_table_metadata
from pyiceberg.table.sorting import SortOrder
from pyiceberg.table.update import TableRequirement, TableUpdate, update_table_metadata

tables, namespaces, state = {}, set(), {"refuse": False}
requirement = TypeAdapter(TableRequirement)
update = TypeAdapter(TableUpdate)


class Catalog(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, content):
        body = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def fail(self, status, kind, message):
        self.answer(status, {"error": {"type": kind, "message": message, "code": status}})

    def table(self, metadata):
        content = f'{{"metadata-location": "memory:{uuid.uuid4()}", "metadata": {metadata.model_dump_json(by_alias=True)}, "config": {{}}}}'
        self.answer(200, content.encode())

    def do_GET(self):
        parts = self.path.split("?")[0].strip("/").split("/")
        if parts == ["v1", "config"]:
            return self.answer(200, {"defaults": {}, "overrides": {"prefix": "main"}})
        name = tuple(parts[3:])
        if name in tables:
            return self.table(tables[name])
        self.fail(404, "NoSuchTableException", f"no table {name}")

    def do_PUT(self):
        content = self.rfile.read(int(self.headers["content-length"]))
        tables[tuple(self.path.strip("/").split("/")[1:])] = TableMetadataUtil.parse_raw(content.decode())
        self.answer(200, {})

    def do_DELETE(self):
        del tables[tuple(self.path.strip("/").split("/")[1:])]
        self.answer(200, {})

    def do_POST(self):
        content = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)) or "{}")
        parts = self.path.strip("/").split("/")
        if parts[0] in ("refuse", "accept"):
            state["refuse"] = parts[0] == "refuse"
            return self.answer(200, {})
        if parts[2:] == ["namespaces"]:
            namespaces.add(".".join(content["namespace"]))
            return self.answer(200, content)
        if parts[3] not in namespaces:
            return self.fail(404, "NoSuchNamespaceException", f"no namespace {parts[3]}")
        if len(parts) == 5:
            metadata = new_table_metadata(
                Schema.model_validate(content["schema"]),
                PartitionSpec.model_validate(content["partition-spec"]),
                SortOrder.model_validate(content["write-order"]),
                content["location"],
                content["properties"],
            )
            tables[(*parts[3:], content["name"])] = metadata
            return self.table(metadata)
        if parts[-1] == "metrics":
            return self.answer(204, b"")
        name = tuple(parts[3:])
        if state["refuse"]:
            return self.fail(409, "CommitFailedException", "refused")
        try:
            for each in content["requirements"]:
                requirement.validate_python(each).validate(tables[name])
        except CommitFailedException as error:
            return self.fail(409, "CommitFailedException", str(error))
        updates = tuple(update.validate_python(each) for each in content["updates"])
        tables[name] = update_table_metadata(tables[name], updates)
        self.table(tables[name])


server = ThreadingHTTPServer(("127.0.0.1", 0), Catalog)
print(server.server_port, flush=True)
server.serve_forever()
