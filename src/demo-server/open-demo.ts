import { bypassProxy } from '../core/platform/proxy.ts'
import type { ServedApi } from './explorer/served-api.ts'
import type { ListeningService } from './listen.ts'

/**
 * Starts the embedded data service on a free port of this host. Its code is loaded on demand, because few
 * runs need it.
 *
 * @param api the API that it speaks. @default data-api
 */
export async function openDemo(api?: ServedApi): Promise<ListeningService> {
  const [{ createDataService }, { listen }] = await Promise.all([
    import('./create-data-service.ts'),
    import('./listen.ts'),
  ])
  const demo = await listen(createDataService({ api }))
  bypassProxy(demo.url)
  return demo
}
