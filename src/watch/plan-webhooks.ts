/** A webhook and the addresses that it watches, lower case. */
export type Watching = { id: string; addresses: readonly string[] }

export type WebhookPlan = {
  /** Addresses to remove and then to add, webhook by webhook. */
  change: { id: string; remove: string[]; add: string[] }[]
  /** Addresses of each webhook that is to be created. */
  create: string[][]
  /** Webhooks that nothing is left for. */
  drop: string[]
}

export type WatchWish = {
  /** Each once, lower case. */
  wanted: readonly string[]
  /** In the order in which they are to be filled. */
  webhooks: readonly Watching[]
  /** Addresses that one webhook may watch. */
  most: number
}

/** What has to change so that the webhooks together watch what is wanted, each address once; little is moved. */
export function planWebhooks({ wanted, webhooks, most }: WatchWish): WebhookPlan {
  const unwatched = new Set(wanted)
  const kept = webhooks.map(({ id, addresses }) => keep({ id, addresses }, { unwatched, most }))
  const rest = [...unwatched]
  const filled = kept.map(({ id, keeps, remove }) => {
    const add = rest.splice(0, most - keeps)
    return { id, remove, add, watches: keeps + add.length }
  })
  return {
    change: filled
      .filter(({ watches, remove, add }) => watches > 0 && remove.length + add.length > 0)
      .map(({ id, remove, add }) => ({ id, remove, add })),
    create: Array.from({ length: Math.ceil(rest.length / most) }, (_, at) =>
      rest.slice(at * most, (at + 1) * most),
    ),
    drop: filled.filter(({ watches }) => watches === 0).map(({ id }) => id),
  }
}

/** Keeps of a webhook's addresses what no other has kept, as many as may be. */
function keep({ id, addresses }: Watching, { unwatched, most }: { unwatched: Set<string>; most: number }) {
  const remove: string[] = []
  let keeps = 0
  for (const address of addresses) {
    if (keeps < most && unwatched.delete(address)) keeps += 1
    else remove.push(address)
  }
  return { id, keeps, remove }
}
