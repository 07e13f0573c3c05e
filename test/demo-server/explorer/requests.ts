import type { ExplorerApi } from '../../../src/core/model/api.ts'
import { createDataService } from '../../../src/demo-server/create-data-service.ts'
import type { DataServiceOptions } from '../../../src/demo-server/data-service.ts'

export const EXPLORERS = ['etherscan', 'blockscout'] as const satisfies readonly ExplorerApi[]
export const LISTINGS = ['txlist', 'txlistinternal', 'tokentx', 'tokennfttx', 'token1155tx'] as const
/** The most active wallet of the demo chain. */
export const BUSIEST = '0xa548f4431ec271b95b8BDf86c85147C3bBBC5A4f'

// biome-ignore lint/suspicious/noExplicitAny: tests assert the shape of the body
type Answer = { status: number; body: any }
export type ExplorerRecord = Readonly<Record<string, string>>

/** Opens an explorer API; its function sends the parameters of one request. */
export function openExplorer(api: ExplorerApi, options: DataServiceOptions = {}) {
  const service = createDataService({ ...options, api })
  return async (parameters: Record<string, string | number>): Promise<Answer> => {
    const query = new URLSearchParams()
    for (const [name, value] of Object.entries({ chainid: '43114', module: 'account', ...parameters }))
      query.set(name, String(value))
    const response = await service.handle({ method: 'GET', url: `${PATHS[api]}?${query}`, headers: {} })
    return { status: response.status, body: JSON.parse(response.body) }
  }
}

const PATHS = { etherscan: '/v2/api', blockscout: '/api' }

/** The records of a listing, which must be complete. */
export async function recordsOf(
  ask: ReturnType<typeof openExplorer>,
  parameters: Record<string, string | number>,
): Promise<ExplorerRecord[]> {
  const { body } = await ask({ sort: 'asc', ...parameters })
  if (body.status !== '1' && body.result.length > 0) throw new Error(JSON.stringify(body).slice(0, 200))
  return body.result
}
