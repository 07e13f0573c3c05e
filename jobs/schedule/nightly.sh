#!/bin/sh
# Exports jobs, then loads their outputs into a database. The schedules of this folder start it in place of `walletlake run`.
#
#   nightly.sh 'jobs/*.yaml' [option of walletlake run …]
#
# The first argument is a job file or a quoted pattern. WALLETLAKE_LOAD_TO names the database, as `walletlake load --to` does:
# postgres://me@db/lake (the password in PGPASSFILE), duckdb:FILE … Without it, the DuckDB file output/lake.db is used.
#
# Exit 0 and exit 6 (complete, but some records were rejected) of the run are loaded. After any other exit code nothing is loaded,
# and the database keeps the last good state. The exit code is that of the first load that failed, otherwise that of the run.
set -u
program=$(dirname "$0")/../../dist/bin.js
export WALLETLAKE_LOAD_TO="${WALLETLAKE_LOAD_TO:-duckdb:output/lake.db}"

if [ $# -eq 0 ]; then
  printf 'nightly.sh: found no job\nfix: %s\n' "sh nightly.sh 'jobs/*.yaml' [option of walletlake run …]" >&2
  exit 2
fi

child=
stopped=
# As process 1 of a container this shell alone receives the signal.
trap 'stopped=143; [ -z "$child" ] || kill -TERM "$child" 2>/dev/null' TERM
trap 'stopped=130' INT

# Starts the program, waits for its end and leaves the exit code in $code. A signal ends `wait` early, so wait again.
walletlake() {
  node "$program" "$@" &
  child=$!
  code=0
  wait "$child" || code=$?
  while kill -0 "$child" 2>/dev/null; do
    code=0
    wait "$child" || code=$?
  done
  child=
}

jobs=$1
walletlake run "$@"
ran=$code
case $ran in 0 | 6) ;; *) exit "$ran" ;; esac

# An empty IFS expands the pattern and keeps blanks in names.
IFS=
for job in $jobs; do
  [ -z "$stopped" ] || exit "$stopped"
  # What load prints goes to stderr: with --json, the only line on stdout is the summary of the run.
  walletlake load "$job" --quiet >&2
  [ "$code" -eq 0 ] || exit "$code"
done
exit "$ran"
