import type { Api } from '../core/model/api.ts'
import { bypassProxy } from '../core/platform/proxy.ts'
import type { ListeningService } from './listen.ts'

/**
 * Starts the embedded data service on a free port of this host. Its code is loaded on demand, because few
 * runs need it.
 *
 * @param api the API that it speaks. @default data-api
 */
export async function openDemo(api?: Api): Promise<ListeningService> {
  const [{ createDataService }, { listen }] = await Promise.all([
    import('./create-data-service.ts'),
    import('./listen.ts'),
  ])
  const demo = await listen(createDataService({ api }))
  bypassProxy(demo.url)
  return demo
}
