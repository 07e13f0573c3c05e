/**
 * Reserved words from the documentation of each engine: BigQuery "Lexical structure: reserved keywords", Snowflake
 * "Reserved & limited keywords", Redshift "Reserved words". ClickHouse and Spark need no list, because every name is
 * quoted there.
 */
const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/))

export const BIGQUERY_RESERVED = words(`
  all and any array as asc assert_rows_modified at between by case cast collate contains create cross cube current
  default define desc distinct else end enum escape except exclude exists extract false fetch following for from full
  group grouping groups hash having if ignore in inner intersect interval into is join lateral left like limit lookup
  merge natural new no not null nulls of on or order outer over partition preceding proto qualify range recursive
  respect right rollup rows select set some struct tablesample then to treat true unbounded union unnest using when
  where window with within`)

export const SNOWFLAKE_RESERVED = words(`
  account all alter and any as between by case cast check column connect connection constraint create cross current
  current_date current_time current_timestamp current_user database delete distinct drop else exists false following
  for from full grant group gscluster having ilike in increment inner insert intersect into is issue join lateral left
  like localtime localtimestamp minus natural not null of on or order organization qualify regexp revoke right rlike
  row rows sample schema select set some start table tablesample then to trigger true try_cast union unique update
  using values view when whenever where with`)

export const REDSHIFT_RESERVED = words(`
  aes128 aes256 all allowoverwrite analyse analyze and any array as asc authorization az64 backup between binary
  blanksasnull both bytedict bzip2 case cast check collate column connect constraint create credentials cross
  current_date current_time current_timestamp current_user current_user_id default deferrable deflate defrag delta
  delta32k desc disable distinct do else emptyasnull enable encode encrypt encryption end except explicit false for
  foreign freeze from full globaldict256 globaldict64k grant group gzip having identity ignore ilike in initially inner
  intersect interval into is isnull join leading left like limit localtime localtimestamp lun luns lzo lzop minus
  mostly16 mostly32 mostly8 natural new not notnull null nulls off offline offset oid old on only open or order outer
  overlaps parallel partition percent permissions pivot placing primary raw readratio recover references rejectlog
  resort respect restore right select session_user similar snapshot some sysdate system table tag tdes text255 text32k
  then timestamp to top trailing true truncatecolumns union unique unnest unpivot user using verbose wallet when where
  with without`)
