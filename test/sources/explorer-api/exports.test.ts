import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Api } from '../../../src/core/model/api.ts'
import { createDataService } from '../../../src/demo-server/create-data-service.ts'
import type { ExplorerQuirk } from '../../../src/demo-server/explorer/quirks.ts'
import { listen } from '../../../src/demo-server/listen.ts'
import { verifyOutput } from '../../../src/verify/export/verify-output.ts'
import { exportDemo } from '../../helpers/demo-export.ts'
import { expectEqualColumns } from '../../helpers/explorer-columns.ts'
import { demoWallets } from '../../helpers/node-data.ts'
import { suiteFolder } from '../../helpers/temp-folder.ts'

const folder = suiteFolder()
const DATA_API = join(folder, 'data-api')

async function exportWith(api: Api, output: string, options: { quirk: ExplorerQuirk | undefined }) {
  const service = await listen(
    createDataService({ api, explorerQuirks: options.quirk === undefined ? [] : [options.quirk] }),
    { port: 0 },
  )
  try {
    await exportDemo(output, {
      addresses: demoWallets,
      service: { baseUrl: service.url, apiKeyHeader: 'x-service-api-key', timeoutMs: 30_000, api },
    })
  } finally {
    await service.close()
  }
}

describe.for([
  { api: 'etherscan' as const, quirk: undefined },
  { api: 'etherscan' as const, quirk: 'free-plan' as const },
  { api: 'blockscout' as const, quirk: undefined },
  { api: 'blockscout' as const, quirk: 'before-9' as const },
])('an export from the API $api, quirk: $quirk', ({ api, quirk }) => {
  test('is verified, and equals one from the Data API in all columns that both have', async () => {
    const output = join(folder, `${api}-${quirk}`)
    await exportDemo(DATA_API)
    await exportWith(api, output, { quirk })
    expect((await verifyOutput(output)).problems).toEqual([])
    await expectEqualColumns(DATA_API, output, { statesLogIndex: quirk === 'before-9' })
  })
})
