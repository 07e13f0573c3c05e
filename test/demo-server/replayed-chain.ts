import { onTestFinished } from 'vitest'
import { createDataService } from '../../src/demo-server/create-data-service.ts'
import type {
  DataService,
  DataServiceHandle,
  DataServiceOptions,
} from '../../src/demo-server/data-service.ts'
import type { Received } from './receiver.ts'
import { sendRequest } from './requests.ts'

const A = '0x00000000000000000000000000000000000000Aa'
export const B = '0x00000000000000000000000000000000000000bB'

/** A chain of blocks with one transaction each, from A to B. The hash of a transaction is its block number. */
const LAB = [1, 2, 3, 4, 5, 6].map((block) => ({
  nativeTransaction: {
    blockNumber: String(block),
    txHash: `0x${block}`,
    from: { address: A },
    to: { address: B },
  },
}))

/** A service that replays that chain by default. It is closed when the test has finished. */
export function startReplay(options: DataServiceOptions = {}): DataServiceHandle {
  const service = createDataService({ replay: { chain: 'lab' }, chains: { lab: LAB }, ...options })
  onTestFinished(() => service.close())
  return service
}

/** Creates a webhook that watches A on that chain by default. */
export async function watch(service: DataService, url: string, more: object = {}): Promise<{ id: string }> {
  const body = { eventType: 'address_activity', url, chainId: 'lab', metadata: { addresses: [A] }, ...more }
  return (await sendRequest(service, 'POST /v1/webhooks', { body })).body
}

export function hashesOf(received: readonly Received[]): string[] {
  return received.map(({ body }) => body.event.transaction.txHash)
}
