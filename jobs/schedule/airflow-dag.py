"""Exports wallets every night and loads them into a database. Written for Airflow 3; for 2.x use: from airflow import DAG.

The rows are loaded after exit codes 0 and 6. After 9 (deadline) and 5 (service unavailable) nothing is loaded, the attempt fails, and
the next attempt resumes. After 8 (another run holds the output) the task is skipped. Exit code 6 (some wallets, records or blocks are
missing) fails every attempt, but everything else is in the database: see the log of the task. The last line of the log is the JSON
summary of the run, and therefore the XCom value.
"""

from datetime import datetime, timedelta, timezone

from airflow.providers.standard.operators.bash import BashOperator
from airflow.sdk import DAG

with DAG(
    dag_id="walletlake",
    schedule="17 3 * * *",
    start_date=datetime(2025, 1, 1, tzinfo=timezone.utc),
    catchup=False,
    max_active_runs=1,
):
    BashOperator(
        task_id="export_and_load",
        # With exec, SIGTERM reaches the script, which forwards it. install.sh installs the script at this path.
        bash_command="exec sh /opt/walletlake/lib/node_modules/walletlake/jobs/schedule/nightly.sh"
        " jobs/mine.yaml --json --quiet --deadline 110m",
        # Contains jobs/mine.yaml and receives output/mine. It must be the same (shared) folder on every worker.
        cwd="/srv/wallets",
        # The default database is the DuckDB file output/lake.db. For another one, set WALLETLAKE_LOAD_TO (and PGPASSFILE) here.
        env={"WALLETLAKE_API_KEY_FILE": "/run/secrets/walletlake/key"},
        append_env=True,
        skip_on_exit_code=8,
        do_xcom_push=True,
        execution_timeout=timedelta(hours=2),
        retries=6,
        retry_delay=timedelta(minutes=10),
    )
