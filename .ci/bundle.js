// Puts the built program's modules, and those of the packages that it starts with, into few files, and the packages'
// licences beside them. Usage, after tsc: node .ci/bundle.js
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

/** Native, with files of their own, or loaded by few runs. */
const APART = [
  '@duckdb/node-bindings',
  'avsc',
  '@clickhouse/client',
  'node-sqlite3-wasm',
  'pg',
  'pg-copy-streams',
  '@aws-sdk/client-s3',
  '@aws-sdk/lib-storage',
  'write-excel-file',
]

const { metafile } = await build({
  entryPoints: ['dist/bin.js', 'dist/transform/threads/worker.js'],
  outdir: 'dist',
  outbase: 'dist',
  allowOverwrite: true,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  external: APART,
  // The width of text, for help and progress: the default one creates a segmenter at every start, which takes 0.03 s.
  alias: {
    undici: fileURLToPath(new URL('undici.cjs', import.meta.url)),
    'string-width': fileURLToPath(import.meta.resolve('fast-string-width')),
    // Half as large as its other form.
    bullmq: fileURLToPath(new URL('../esm/index.js', import.meta.resolve('bullmq'))),
  },
  // CommonJS packages ask for Node's own modules by it.
  banner: {
    js: "import { createRequire as requireFrom } from 'node:module'\nconst require = requireFrom(import.meta.url)",
  },
  metafile: true,
  logLevel: 'warning',
})

// The names of chunks contain hashes, so those of an earlier build would stay.
for (const name of readdirSync('dist'))
  if (/-[0-9A-Z]{8}\.js$/.test(name) && !(`dist/${name}` in metafile.outputs)) rmSync(`dist/${name}`)

/** The script of a report's page, which browsers run. */
await build({
  entryPoints: { 'report-page': 'src/html-report/page/main.ts' },
  outdir: 'dist',
  bundle: true,
  minify: true,
  format: 'iife',
  platform: 'browser',
  target: 'es2023',
  charset: 'ascii',
  logLevel: 'warning',
})

const PACKAGE = /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+\//
const folders = new Set(Object.keys(metafile.inputs).flatMap((path) => PACKAGE.exec(path)?.[0] ?? []))
writeFileSync('dist/LICENSES.txt', [...folders].sort().map(licenceOf).join('\n'))

function licenceOf(folder) {
  const { name, version } = JSON.parse(readFileSync(`${folder}package.json`, 'utf8'))
  const licence = readdirSync(folder).find((file) => /^licen[cs]e/i.test(file))
  if (licence === undefined) throw new Error(`${name} has no licence to go along`)
  return `${name} ${version}\n\n${readFileSync(`${folder}${licence}`, 'utf8').trim()}\n`
}
