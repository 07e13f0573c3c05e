#!/bin/sh
# Exports jobs and then loads their outputs into a database, with `walletlake run --load`. The schedules in this folder
# run this script.
#
#   nightly.sh 'jobs/*.yaml' [options of walletlake run]
#
# The first argument is a job file or a quoted pattern. WALLETLAKE_LOAD_TO names the database, in the form that
# `walletlake load --to` accepts: duckdb:FILE, postgres://me@db/lake (with the password in PGPASSFILE) and others. The
# default is duckdb:output/lake.db.
#
# Exit code, ping and metrics describe run and load together.
set -u
export WALLETLAKE_LOAD_TO="${WALLETLAKE_LOAD_TO:-duckdb:output/lake.db}"

if [ $# -eq 0 ]; then
  printf 'nightly.sh: no job file given\nfix: %s\n' "sh nightly.sh 'jobs/*.yaml' [options of walletlake run]" >&2
  exit 2
fi
exec node "$(dirname "$0")/../../dist/bin.js" run "$@" --load
