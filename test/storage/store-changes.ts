import type { Store } from '../../src/storage/store.ts'
import { tempFile } from '../helpers/temp-folder.ts'

/** Every method of a store that changes an export, by name, as calls that fail once another run holds it. */
export function storeChanges(store: Store): [name: string, change: () => Promise<void>][] {
  const staged = tempFile('staged', 'new')
  return [
    ['putFiles', () => store.putFiles([{ path: 'ledger/new.csv', staged }])],
    ['putText', () => store.putText('rejects.ndjson', 'new')],
    ['create', async () => void (await store.create('ledger/metadata/v1.metadata.json', Buffer.from('new')))],
    ['remove', () => store.remove('rejects.ndjson')],
    ['putManifest', () => store.putManifest('new')],
    ['removeManifest', () => store.removeManifest()],
    ['backUpManifest', () => store.backUpManifest()],
    ['removeManifestBackup', () => store.removeManifestBackup()],
  ]
}
