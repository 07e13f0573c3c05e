import type { Dialect, DialectName } from './dialect.ts'
import { bigquery } from './dialects/bigquery.ts'
import { clickhouse } from './dialects/clickhouse.ts'
import { duckdb } from './dialects/duckdb.ts'
import { postgres } from './dialects/postgres.ts'
import { redshift } from './dialects/redshift.ts'
import { snowflake } from './dialects/snowflake.ts'
import { spark } from './dialects/spark.ts'
import { sqlite } from './dialects/sqlite.ts'

/** All dialects, by the value of `--sql`. */
export const DIALECTS: Readonly<Record<DialectName, Dialect>> = {
  duckdb,
  postgres,
  clickhouse,
  sqlite,
  bigquery,
  snowflake,
  redshift,
  spark,
}
