import { bypassProxy } from '../core/platform/proxy.ts'
import type { ListeningService } from './listen.ts'

/**
 * Starts the embedded data service on a free port of this host. Its code is loaded on demand, because few
 * runs need it.
 */
export async function openDemo(): Promise<ListeningService> {
  const [{ createDataService }, { listen }] = await Promise.all([
    import('./create-data-service.ts'),
    import('./listen.ts'),
  ])
  const demo = await listen(createDataService())
  bypassProxy(demo.url)
  return demo
}
