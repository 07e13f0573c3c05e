# Prints, for each table of an export, the rows of the current and of the first snapshot as an engine reads them.
# Usage: read-tables.py ENGINE FOLDER [URI OF A REST CATALOG]
# FOLDER may be an s3:// location for pyiceberg and polars; AWS_ENDPOINT_URL_S3 says where the store is.
# Engines: pyiceberg, polars, duckdb, spark (WALLETLAKE_ICEBERG_SPARK_JAR names the Iceberg runtime).
import json
import os
import sys
import urllib.request
from datetime import datetime, timezone

engine, folder, *uris = sys.argv[1:]
uri = uris[0] if uris else None
NAMESPACE = "walletlake"


is_bucket = folder.startswith("s3://")
PROPERTIES = {
    "s3.endpoint": os.environ.get("AWS_ENDPOINT_URL_S3", ""),
    "s3.access-key-id": os.environ.get("AWS_ACCESS_KEY_ID", ""),
    "s3.secret-access-key": os.environ.get("AWS_SECRET_ACCESS_KEY", ""),
    "s3.region": "us-east-1",
}


def text_of(path):
    if not is_bucket:
        return open(path).read()
    from pyiceberg.io.pyarrow import PyArrowFileIO

    return PyArrowFileIO(PROPERTIES).new_input(path).open().read().decode()


def location(name):
    """The newest metadata of a table of the file catalog."""
    version = text_of(f"{folder}/{name}/metadata/version-hint.text")
    return f"{folder}/{name}/metadata/v{version}.metadata.json"


def metadata(name):
    if uri is None:
        return json.loads(text_of(location(name)))
    return json.load(urllib.request.urlopen(f"{uri}/v1/main/namespaces/{NAMESPACE}/tables/{name}"))["metadata"]


def with_pyiceberg():
    from pyiceberg.catalog.rest import RestCatalog
    from pyiceberg.table import StaticTable

    catalog = RestCatalog("test", uri=uri) if uri else None

    def table(name):
        if catalog:
            return catalog.load_table((NAMESPACE, name))
        return StaticTable.from_metadata(location(name) if is_bucket else f"file://{location(name)}", PROPERTIES if is_bucket else {})

    return table


def read_pyiceberg():
    table = with_pyiceberg()
    return lambda name, snapshot: table(name).scan(snapshot_id=snapshot).to_arrow().to_pylist()


def read_polars():
    import polars

    table = with_pyiceberg()
    return lambda name, snapshot: polars.scan_iceberg(table(name), snapshot_id=snapshot).collect().to_dicts()


def read_duckdb():
    import duckdb
    from duckdb_extensions import import_extension

    connection = duckdb.connect()
    for extension in ("icu", "avro", "httpfs", "iceberg"):
        import_extension(extension, con=connection)
    connection.execute("SET timezone = 'UTC'")
    if uri:
        connection.execute(f"ATTACH '' AS lake (TYPE iceberg, ENDPOINT '{uri}', AUTHORIZATION_TYPE 'none')")

    def read(name, snapshot):
        at = f"AT (VERSION => {snapshot})"
        source = f"lake.{NAMESPACE}.{name} {at}" if uri else f"iceberg_scan('{location(name)}', snapshot_from_id => {snapshot})"
        columns = connection.execute(f"DESCRIBE SELECT * FROM {source}").fetchall()
        cells = [f"epoch_ms(\"{c}\")" if "TIME ZONE" in t else f'"{c}"' for c, t, *_ in columns]
        rows = connection.execute(f"SELECT {', '.join(cells)} FROM {source}").fetchall()
        is_time = ["TIME ZONE" in t for _, t, *_ in columns]
        convert = lambda cell, time: datetime.fromtimestamp(cell / 1000, timezone.utc) if time and cell is not None else cell
        return [{c[0]: convert(cell, time) for c, cell, time in zip(columns, row, is_time)} for row in rows]

    return read


def read_spark():
    from pyspark.sql import SparkSession

    os.environ["TZ"] = "UTC"
    settings = {
        "spark.jars": os.environ["WALLETLAKE_ICEBERG_SPARK_JAR"],
        "spark.ui.enabled": "false",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.session.timeZone": "UTC",
        "spark.driver.extraJavaOptions": "-Duser.timezone=UTC",
        "spark.sql.shuffle.partitions": "1",
        "spark.sql.catalog.lake": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.lake.io-impl": "org.apache.iceberg.hadoop.HadoopFileIO",
        **(
            {"spark.sql.catalog.lake.type": "rest", "spark.sql.catalog.lake.uri": uri}
            if uri
            else {"spark.sql.catalog.lake.type": "hadoop", "spark.sql.catalog.lake.warehouse": f"file://{folder}"}
        ),
    }
    builder = SparkSession.builder.master("local[1]")
    for key, value in settings.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    prefix = f"lake.{NAMESPACE}" if uri else "lake"

    def read(name, snapshot):
        rows = session.sql(f"SELECT * FROM {prefix}.{name} VERSION AS OF {snapshot}").collect()
        # Spark returns times in the local time zone, which is UTC here, without saying so.
        utc = lambda cell: cell.replace(tzinfo=timezone.utc) if isinstance(cell, datetime) else cell
        return [{column: utc(cell) for column, cell in row.asDict().items()} for row in rows]

    return read


def text(cell):
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, datetime):
        return cell.astimezone(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.") + f"{cell.microsecond // 1000:03}Z"
    return str(cell)


read = {"pyiceberg": read_pyiceberg, "polars": read_polars, "duckdb": read_duckdb, "spark": read_spark}[engine]()


def rows(name, snapshot):
    return [{column: text(cell) for column, cell in row.items()} for row in read(name, snapshot)]


def describe(name):
    content = metadata(name)
    snapshots = content["snapshots"]
    if not snapshots:
        return {"snapshots": 0, "first": [], "last": []}
    first, last = snapshots[0]["snapshot-id"], content["current-snapshot-id"]
    return {"snapshots": len(snapshots), "first": rows(name, first), "last": rows(name, last)}


manifest = json.loads(text_of(f"{folder}/manifest.json"))
print(json.dumps({name: describe(name) for name in manifest["tables"]}))
