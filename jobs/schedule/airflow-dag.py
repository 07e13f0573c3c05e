"""Exports wallets every night. Written for Airflow 3; in 2.x: from airflow import DAG.

Exit 9 (deadline) and 5 (service away) fail a try, and the next try resumes. Exit 8 says that another run holds the
output: the task is skipped. The last line of the task, and so its XCom, is the summary of --json.

To load the export as well, assign the operator to `export` and add a task behind it, which starts only when the run ended with 0:

    load = BashOperator(
        task_id="load",
        bash_command="exec walletlake load output/mine --to postgres://walletlake@db/lake",
        cwd="/srv/wallets",
        env={"PGPASSFILE": "/run/secrets/walletlake/pgpass"},
        append_env=True,
    )
    export >> load

Exit 6 (records set aside) fails all tries alike: look at output/mine/rejects.ndjson, then load by hand.
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
        task_id="export",
        # exec: SIGTERM reaches walletlake itself.
        bash_command="exec walletlake run jobs/mine.yaml --json --quiet --deadline 110m",
        # Holds jobs/mine.yaml and gets output/mine; on every worker the same folder.
        cwd="/srv/wallets",
        env={"WALLETLAKE_API_KEY_FILE": "/run/secrets/walletlake/key"},
        append_env=True,
        skip_on_exit_code=8,
        do_xcom_push=True,
        execution_timeout=timedelta(hours=2),
        retries=6,
        retry_delay=timedelta(minutes=10),
    )
