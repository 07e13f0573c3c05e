import { createHash } from 'node:crypto'
import { realpath, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ExportError } from '../core/model/errors.ts'
import { MANIFEST_FILE, type Manifest, type ManifestFile } from '../core/model/manifest.ts'
import type { FormatName } from '../core/model/model.ts'
import { diskError, hashFile, readManifestText } from '../core/platform/disk.ts'
import { isFolder } from '../core/platform/entry.ts'
import { createScratchFolder } from '../core/platform/scratch-folder.ts'
import { assertNoSpecialEntries } from '../core/platform/special-entries.ts'
import type { Table } from '../core/table/index.ts'
import { readHeader } from '../formats/csv.ts'
import type { DataFile } from '../formats/format.ts'
import { FORMATS, openDataFile } from '../formats/index.ts'
import { checkSize, mismatchError } from '../read/check-files.ts'
import { type DownloadOptions, download, downloadText } from './download.ts'
import { readManifest } from './read-manifest.ts'
import type { LocalFile } from './reader.ts'

/** A file of the manifest, with its table. */
export type PlannedFile = { readonly table: Table; readonly file: ManifestFile }

/** An output to load from: the manifest and access to the files. */
export type LoadSource = {
  readonly manifest: Manifest
  readonly manifestSha256: string
  /** Folder or URL of the output, without credentials and query string. */
  readonly location: string
  /** Whether the files are at a URL. */
  readonly isRemote: boolean
  /** Temporary folder for readers of the files; `close` removes it. */
  readonly scratchFolder: string
  /**
   * Checks before the load that the folder has these files in the listed size. Does nothing for remote files. Throws
   * VERIFY_FAILED.
   */
  requireFiles(files: readonly ManifestFile[]): Promise<void>
  /** Like `open`, without the check. */
  openUnchecked(planned: PlannedFile): Promise<LocalFile>
  /** Downloads a remote file, then checks it. Throws VERIFY_FAILED if it does not match the manifest. */
  open(planned: PlannedFile): Promise<LocalFile>
  /** Closes a file that `open` returned and deletes its download. */
  release(file: LocalFile): Promise<void>
  /** Whether the manifest has changed since it was read. */
  hasChanged(): Promise<boolean>
  close(): Promise<void>
}

/**
 * Opens an output by its folder, or by the path or URL (`file:`, `http:`, `https:`) of its `manifest.json`. The URL's
 * query string (a signature) is also used for the files, and never printed.
 */
export async function openLoadSource(input: string, options: DownloadOptions): Promise<LoadSource> {
  const location = resolveManifestLocation(input)
  const read = () => (typeof location === 'string' ? readLocal(location) : downloadText(location, options))
  const displayLocation = typeof location === 'string' ? location : `${location.origin}${location.pathname}`
  const text = await read()
  const manifest = readManifest(text, displayLocation)
  const scratchFolder = await createScratchFolder('load')
  const fetchFile =
    typeof location === 'string'
      ? folderFetcher(location)
      : remoteFetcher(location, { ...options, scratchFolder })
  const { format } = manifest.job
  // Files in a form that DuckDB can read as they are: measuring their rows again would read them once more.
  const unsplit = new Map<string, DataFile>()
  const openFile = async ({ table, file: { path: name, rows } }: PlannedFile, path: string) => {
    const readable = unsplit.get(path) ?? (await openDataFile(path, format, scratchFolder))
    if (readable.paths[0] === path) unsplit.set(path, readable)
    return { table, name, path, format, readable, rows }
  }
  return {
    manifest,
    manifestSha256: createHash('sha256').update(text).digest('hex'),
    location: typeof location === 'string' ? await realpath(folderOf(location)) : folderOf(displayLocation),
    scratchFolder,
    isRemote: typeof location !== 'string',
    requireFiles: async (files) => {
      if (typeof location !== 'string') return
      for (const { path, bytes } of files)
        await checkSize({ name: path, path: join(folderOf(location), path), bytes })
    },
    openUnchecked: async (planned) => openFile(planned, await fetchFile(planned.file)),
    open: async (planned) => {
      const path = await fetchFile(planned.file)
      await checkFile(planned, path, manifest.job.format)
      return openFile(planned, path)
    },
    release: async ({ path, readable }) => {
      await readable.close()
      if (path.startsWith(scratchFolder)) await rm(path, { force: true })
    },
    hasChanged: async () => (await read().catch(() => undefined)) !== text,
    close: () => rm(scratchFolder, { recursive: true, force: true }),
  }
}

/** Resolves the input to the path or URL of a manifest. */
function resolveManifestLocation(input: string): string | URL {
  if (/^https?:\/\//i.test(input)) return parseAddress(input)
  if (!/^file:/i.test(input) && /^[a-z][a-z0-9+.-]+:\/\//i.test(input))
    throw new ExportError(
      'USAGE',
      `cannot read a manifest from ${input}: expected a folder, a path or an https URL`,
      {
        fix: "Use the bucket's https URL, signed or public: https://storage.googleapis.com/BUCKET/….",
      },
    )
  const path = /^file:\/\//i.test(input) ? fileURLToPath(input) : input
  return basename(path) === MANIFEST_FILE ? path : join(path, MANIFEST_FILE)
}

function parseAddress(text: string): URL {
  try {
    return new URL(text)
  } catch {
    throw new ExportError('USAGE', 'the address of the manifest is not a valid URL', {
      fix: 'Write it as https://host/path/manifest.json.',
    })
  }
}

const folderOf = (manifest: string) => manifest.replace(/[\\/]?[^\\/]*$/, '') || '.'

async function readLocal(path: string): Promise<string> {
  await assertNoSpecialEntries(folderOf(path), 'VERIFY_FAILED')
  try {
    return await readManifestText(path)
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ENOENT') throw diskError(`cannot read ${path}`, cause)
    throw new ExportError(
      'USAGE',
      (await isFolder(folderOf(path)))
        ? `there is no manifest at ${path}`
        : `there is no folder ${folderOf(path)}`,
      {
        fix: 'Run the job until it is complete, or name the output folder of a complete export, or its manifest with --from-manifest.',
      },
    )
  }
}

function folderFetcher(manifest: string): (file: ManifestFile) => Promise<string> {
  return async ({ path }) =>
    realpath(join(folderOf(manifest), path)).catch(() => join(folderOf(manifest), path))
}

type RemoteFileOptions = DownloadOptions & { readonly scratchFolder: string }

function remoteFetcher(
  manifest: URL,
  { scratchFolder, ...options }: RemoteFileOptions,
): (file: ManifestFile) => Promise<string> {
  return async ({ path, bytes }) => {
    const url = new URL(path, manifest)
    url.search = manifest.search
    url.username = manifest.username
    url.password = manifest.password
    const to = join(scratchFolder, basename(path))
    await download(url, { path: to, bytes }, options)
    return to
  }
}

/** Checks a file's size and hash against the manifest, and its header, if any, against the table. Throws VERIFY_FAILED. */
async function checkFile({ table, file }: PlannedFile, path: string, format: FormatName): Promise<void> {
  const name = file.path
  await checkSize({ name, path, bytes: file.bytes })
  const sha256 = await hashFile(path)
  if (sha256 !== file.sha256)
    throw mismatchError(name, `expected the SHA-256 ${file.sha256}, found ${sha256}`)
  const expected = FORMATS[format].header?.(table.columns)
  if (expected === undefined) return
  const header = await readHeader(path)
  if (header !== expected)
    throw mismatchError(name, `expected the header ${expected}, found ${header ?? 'none'}`)
}
