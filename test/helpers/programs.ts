import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { delimiter, join } from 'node:path'

const searchPath = (process.env.PATH ?? '').split(delimiter)
const onPath = (program: string) => searchPath.some((folder) => existsSync(join(folder, program)))

/** The folder of PostgreSQL's server programs. Debian does not put it on the PATH. */
export function findPostgres(): string | undefined {
  const debian = '/usr/lib/postgresql'
  const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : []
  const folders = [...searchPath, ...versions.map((version) => join(debian, version, 'bin'))]
  return folders.find((folder) => existsSync(join(folder, 'initdb')) && existsSync(join(folder, 'postgres')))
}

/** Debian's Chromium. */
export const CHROMIUM = '/usr/bin/chromium'

/** A Python interpreter with the packages that read converted files and Iceberg tables in tests. */
export const IMPORTERS_PYTHON = process.env.WALLETLAKE_IMPORTERS_PYTHON ?? 'python3'
const hasModule = (name: string) => spawnSync(IMPORTERS_PYTHON, ['-c', `import ${name}`]).status === 0

/** Whether packages are installed, without loading them, which takes seconds. */
const hasPackages = (...names: readonly string[]) => {
  const missing = names.map((name) => `find_spec('${name}') is None`).join(' or ')
  const program = `from importlib.util import find_spec; exit(1 if ${missing} else 0)`
  return spawnSync(IMPORTERS_PYTHON, ['-c', program]).status === 0
}

const CEPH = ['radosgw', 'ceph-mon', 'ceph-mgr', 'ceph-osd', 'radosgw-admin', 'ceph', 'monmaptool']

/** Checks for the programs that only some tests need. `.ci/run` installs those that Debian or PyPI provide. */
const FINDERS = {
  'redis-server': () => onPath('redis-server'),
  PostgreSQL: () => findPostgres() !== undefined,
  'Ceph (radosgw)': () => CEPH.every(onPath),
  hledger: () => onPath('hledger'),
  ledger: () => onPath('ledger'),
  'bean-check (beancount)': () => onPath('bean-check'),
  Chromium: () => existsSync(CHROMIUM),
  'LibreOffice Calc': () => onPath('soffice'),
  openssl: () => onPath('openssl'),
  shellcheck: () => onPath('shellcheck'),
  script: () => onPath('script'),
  'systemd-analyze': () => onPath('systemd-analyze'),
  python3: () => onPath('python3'),
  'bittytax (PyPI)': () => hasModule('bittytax'),
  'rp2 (PyPI)': () => hasModule('rp2'),
  'dali-rp2 (PyPI)': () => hasModule('dali'),
  'pyiceberg (PyPI)': () => hasPackages('pyiceberg', 'pyarrow'),
  'polars (PyPI)': () => hasPackages('pyiceberg', 'polars'),
  'pandas (PyPI)': () => hasPackages('pandas', 'polars', 'pyarrow'),
  'DuckDB with its Iceberg extension (PyPI)': () =>
    hasPackages('duckdb_extension_iceberg', 'duckdb_extensions'),
  'Spark with Iceberg (PyPI, Maven)': () =>
    process.env.WALLETLAKE_ICEBERG_SPARK_JAR !== undefined && onPath('java') && hasPackages('pyspark'),
} satisfies Record<string, () => boolean>

export type Program = keyof typeof FINDERS

/** Whether a program is not installed, so that tests that need it are skipped. */
export const isMissing = (program: Program): boolean => !FINDERS[program]()

/** Programs that are not installed. */
export const missingPrograms = (): Program[] =>
  (Object.keys(FINDERS) as Program[]).filter((program) => isMissing(program))
