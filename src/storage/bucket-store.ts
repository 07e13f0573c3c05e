import { readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { ExportError } from '../core/model/errors.ts'
import {
  CHANGES_FOLDER,
  MANIFEST_FILE,
  type ManifestFile,
  PRIVATE_FOLDER,
  REJECTS_FILE,
  RUNS_FOLDER,
} from '../core/model/manifest.ts'
import type { BucketLocation } from '../core/model/model.ts'
import { makePrivateFolder, PRIVATE_MODE, writeAtomically } from '../core/platform/disk.ts'
import { limitConcurrency } from '../core/platform/limit-concurrency.ts'
import { TABLE_NAMES } from '../core/table/index.ts'
import { type Bucket, openBucket } from './bucket.ts'
import { fetchFiles } from './fetch-export.ts'
import { acquireLease, type Lease } from './lease.ts'
import { BACKUP_PATH, backupPath, type FinishedFile, folderStore, type Store } from './store.ts'

/** Concurrent uploads. */
const CONCURRENT_UPLOADS = 4

/**
 * Opens an export in an object store. Files are uploaded as they are finished; the manifest is written last,
 * and only if no other run has written one since. The location is leased to this process while it is open.
 * `folder` holds private files and copies of the manifest and the rejects. Throws OUTPUT_LOCKED if another
 * run holds the location.
 */
export async function openBucketStore(
  location: BucketLocation,
  folder: string,
  signal?: AbortSignal,
): Promise<Store> {
  const bucket = await openBucket(location, { signal })
  try {
    const lease = await acquireLease(bucket)
    try {
      await bucket.abortUploads(isOwnPath)
      return await createStore({ bucket, lease, folder })
    } catch (error) {
      await lease.release().catch(() => undefined)
      throw error
    }
  } catch (error) {
    bucket.close()
    throw error
  }
}

/**
 * Whether a path belongs to an export. The prefix may contain other exports, and the root of a bucket any
 * objects.
 */
function isOwnPath(path: string): boolean {
  return OWN_FOLDERS.some((folder) => path.startsWith(`${folder}/`))
}

const OWN_FOLDERS: readonly string[] = [...TABLE_NAMES, CHANGES_FOLDER, RUNS_FOLDER]

type OpenStore = { bucket: Bucket; lease: Lease; folder: string }

async function createStore({ bucket, lease, folder }: OpenStore): Promise<Store> {
  const sizes = await bucket.sizes('')
  await removeDownloads(folder)
  const version = await copyManifest({ bucket, folder, sizes })
  return new BucketStore({ bucket, lease, folder, sizes, version })
}

class BucketStore implements Store {
  readonly folder: string
  readonly #bucket: Bucket
  readonly #lease: Lease
  readonly #local: Store
  /** Sizes of the objects by path. While the lease is held, no other process changes them. */
  readonly #sizes: Map<string, number>
  /** Version of the manifest that this process has read or written last. */
  #version: string | undefined

  constructor(options: OpenStore & { sizes: Map<string, number>; version: string | undefined }) {
    this.folder = options.folder
    this.#bucket = options.bucket
    this.#lease = options.lease
    this.#local = folderStore(options.folder)
    this.#sizes = options.sizes
    this.#version = options.version
  }

  get name(): string {
    return this.#bucket.name
  }

  async size(path: string): Promise<number | undefined> {
    return this.#sizes.get(path)
  }

  async read(path: string): Promise<Buffer> {
    const content = await this.#bucket.read(path)
    if (content === undefined) throw new ExportError('OUTPUT_FAILED', `${this.name}: ${path} does not exist`)
    return content
  }

  ensureLocal(files: readonly ManifestFile[]): Promise<void> {
    return fetchFiles(this.#bucket, files, this.folder)
  }

  async putFiles(files: readonly FinishedFile[]): Promise<void> {
    const limit = limitConcurrency(CONCURRENT_UPLOADS)
    await Promise.all(
      files.map((file) =>
        limit(async () => {
          await this.#lease.require()
          this.#sizes.set(file.path, await this.#putFinished(file))
        }),
      ),
    )
  }

  /** Resolves with the number of bytes. */
  async #putFinished({ path, ...file }: FinishedFile): Promise<number> {
    if (file.staged === undefined) {
      await this.#bucket.copy(file.copyFrom, path)
      return file.bytes
    }
    await this.#bucket.putFile(path, file.staged)
    const { size } = await stat(file.staged)
    await rm(file.staged)
    return size
  }

  async putText(path: string, text: string): Promise<void> {
    await this.#lease.require()
    await this.#bucket.putText(path, text)
    this.#sizes.set(path, Buffer.byteLength(text))
    await this.#local.putText(path, text)
  }

  async create(path: string, content: Uint8Array): Promise<boolean> {
    await this.#lease.require()
    const isCreated = await this.#bucket.create(path, content)
    if (isCreated) this.#sizes.set(path, content.length)
    return isCreated
  }

  async remove(path: string): Promise<void> {
    await this.#lease.require()
    if (this.#sizes.delete(path)) await this.#bucket.remove([path])
    await this.#local.remove(path)
  }

  async pathsBelow(below: string): Promise<string[]> {
    return [...this.#sizes.keys()].filter((path) => path.startsWith(`${below}/`))
  }

  /** Object stores have no folders. */
  async removeEmptyPartitions(): Promise<void> {}

  async confirmManifest(): Promise<void> {
    await this.#lease.require()
    if (this.#version === undefined) return
    const text = await readFile(join(this.folder, MANIFEST_FILE), 'utf8')
    const version = await this.#bucket.confirm(MANIFEST_FILE, text, this.#version)
    if (version === undefined) throw publishConflict(this.#bucket)
    this.#version = version
  }

  async putManifest(text: string): Promise<void> {
    await this.#lease.require()
    const condition = this.#version === undefined ? { ifAbsent: true as const } : { ifVersion: this.#version }
    const written = await this.#bucket.putText(MANIFEST_FILE, text, condition)
    if (written === undefined) throw publishConflict(this.#bucket)
    this.#version = written
    await this.#local.putManifest(text)
  }

  async removeManifest(): Promise<void> {
    await this.#lease.require()
    if (this.#version !== undefined) await this.#bucket.remove([MANIFEST_FILE])
    this.#version = undefined
    await this.#local.removeManifest()
  }

  async backUpManifest(): Promise<void> {
    await this.#lease.require()
    const manifest = await this.#bucket.readText(MANIFEST_FILE)
    if (manifest === undefined || manifest.version !== this.#version) throw publishConflict(this.#bucket)
    await this.#bucket.putText(BACKUP_PATH, manifest.text)
    this.#sizes.set(BACKUP_PATH, 0)
    await this.#bucket.remove([MANIFEST_FILE])
    this.#version = undefined
    await this.#local.backUpManifest()
  }

  async removeManifestBackup(): Promise<void> {
    await this.#lease.require()
    if (this.#sizes.delete(BACKUP_PATH)) await this.#bucket.remove([BACKUP_PATH])
    await this.#local.removeManifestBackup()
  }

  async close(): Promise<void> {
    await removeDownloads(this.folder)
    await this.#lease.release()
    this.#bucket.close()
  }
}

/** Removes downloaded parts, including those of killed runs. */
async function removeDownloads(folder: string): Promise<void> {
  for (const table of TABLE_NAMES) await rm(join(folder, table), { recursive: true, force: true })
}

type Copying = { bucket: Bucket; folder: string; sizes: ReadonlyMap<string, number> }

/**
 * Copies the manifest and the rejects from the store to the folder; resolves with the version of the
 * manifest, if there is one.
 */
export async function copyManifest({ bucket, folder, sizes }: Copying): Promise<string | undefined> {
  await makePrivateFolder(join(folder, PRIVATE_FOLDER))
  const copy = async (path: string, to: string, mode?: number) => {
    const object = sizes.has(path) ? await bucket.readText(path) : undefined
    if (object === undefined) await rm(to, { force: true })
    else await writeAtomically(to, object.text, mode)
    return object?.version
  }
  await copy(REJECTS_FILE, join(folder, REJECTS_FILE))
  await copy(BACKUP_PATH, backupPath(folder), PRIVATE_MODE)
  return copy(MANIFEST_FILE, join(folder, MANIFEST_FILE))
}

function publishConflict({ name }: Bucket): ExportError {
  return new ExportError('OUTPUT_LOCKED', `${name}: another run has published there in the meantime`, {
    fix: 'Run the same command again: it continues from what the other run has published.',
  })
}
