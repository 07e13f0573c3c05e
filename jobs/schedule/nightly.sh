#!/bin/sh
# Exports jobs and then loads their outputs into a database. The schedules in this folder run this script.
#
#   nightly.sh 'jobs/*.yaml' [options of walletlake run]
#
# The first argument is a job file or a quoted pattern. WALLETLAKE_LOAD_TO names the database, in the form that
# `walletlake load --to` accepts: duckdb:FILE, postgres://me@db/lake (with the password in PGPASSFILE) and others. The
# default is duckdb:output/lake.db.
#
# The rows are loaded if the run ends with 0 or with 6 (complete, except for some wallets, records or blocks). After any
# other exit code nothing is loaded, and the database keeps its last complete state. The script ends with the exit code
# of the first load that failed, otherwise with that of the run.
set -u
program=$(dirname "$0")/../../dist/bin.js
export WALLETLAKE_LOAD_TO="${WALLETLAKE_LOAD_TO:-duckdb:output/lake.db}"

if [ $# -eq 0 ]; then
  printf 'nightly.sh: no job file given\nfix: %s\n' "sh nightly.sh 'jobs/*.yaml' [options of walletlake run]" >&2
  exit 2
fi

child=
stopped=
# In a container this shell is process 1 and the only one that receives the signal, so it forwards it.
trap 'stopped=143; [ -z "$child" ] || kill -TERM "$child" 2>/dev/null' TERM
trap 'stopped=130' INT

# Runs the program, waits until it ends and sets $code to its exit code. A signal interrupts `wait`, so wait again.
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

# With an empty IFS the pattern is expanded, but file names with spaces are not split.
IFS=
for job in $jobs; do
  [ -z "$stopped" ] || exit "$stopped"
  # The output of load goes to stderr, so that with --json the only line on stdout is the summary of the run.
  walletlake load "$job" --quiet >&2
  [ "$code" -eq 0 ] || exit "$code"
done
exit "$ran"
