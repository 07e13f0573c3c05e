"""Exports wallets every night and loads them. Written for Airflow 3; in 2.x: from airflow import DAG.

Exit 0 and 6 are loaded. Exit 9 (deadline) and 5 (service away) load nothing and fail a try, and the next try resumes. Exit 8 says
that another run holds the output: the task is skipped. Exit 6 (records were rejected) fails all tries alike: what is complete is
in the database; look at output/mine/rejects.ndjson. The last line of the task, and so its XCom, is the summary of --json.
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
        # exec: SIGTERM reaches the script, which passes it on. The path is that of install.sh.
        bash_command="exec sh /opt/walletlake/lib/node_modules/walletlake/jobs/schedule/nightly.sh"
        " jobs/mine.yaml --json --quiet --deadline 110m",
        # Holds jobs/mine.yaml and gets output/mine; on every worker the same folder.
        cwd="/srv/wallets",
        # WALLETLAKE_LOAD_TO and PGPASSFILE of the worker name another database than the DuckDB file output/lake.db.
        env={"WALLETLAKE_API_KEY_FILE": "/run/secrets/walletlake/key"},
        append_env=True,
        skip_on_exit_code=8,
        do_xcom_push=True,
        execution_timeout=timedelta(hours=2),
        retries=6,
        retry_delay=timedelta(minutes=10),
    )
