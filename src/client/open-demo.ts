import { requestDirectly } from '../core/proxy.ts'
import type { ListeningService } from '../service/listen.ts'

/** Starts the embedded data service on a free port of this host. Its code is loaded only here: few runs need it. */
export async function openDemo(): Promise<ListeningService> {
  const [{ createDataService }, { listen }] = await Promise.all([
    import('../service/create-data-service.ts'),
    import('../service/listen.ts'),
  ])
  const demo = await listen(createDataService())
  requestDirectly(demo.url)
  return demo
}
