/** A webhook and the addresses that it watches, lower case. */
export type WatchedAddresses = { id: string; addresses: readonly string[] }

export type WebhookPlan = {
  /** Addresses to remove and then to add, webhook by webhook. */
  change: { id: string; remove: string[]; add: string[] }[]
  /** Addresses of each webhook that is to be created. */
  create: string[][]
  /** Webhooks that nothing is left for. */
  drop: string[]
}

export type DesiredWebhooks = {
  /** Each once, lower case. */
  desired: readonly string[]
  /** In the order in which they are to be filled. */
  webhooks: readonly WatchedAddresses[]
  /** Addresses that one webhook may watch. */
  maxAddresses: number
}

/** What has to change so that the webhooks together watch what is wanted, each address once; little is moved. */
export function planWebhooks({ desired, webhooks, maxAddresses }: DesiredWebhooks): WebhookPlan {
  const unwatched = new Set(desired)
  const retained = webhooks.map(({ id, addresses }) =>
    retainAddresses({ id, addresses }, { unwatched, maxAddresses }),
  )
  const unassigned = [...unwatched]
  const filled = retained.map(({ id, keeps, remove }) => {
    const add = unassigned.splice(0, maxAddresses - keeps)
    return { id, remove, add, watches: keeps + add.length }
  })
  return {
    change: filled
      .filter(({ watches, remove, add }) => watches > 0 && remove.length + add.length > 0)
      .map(({ id, remove, add }) => ({ id, remove, add })),
    create: Array.from({ length: Math.ceil(unassigned.length / maxAddresses) }, (_, at) =>
      unassigned.slice(at * maxAddresses, (at + 1) * maxAddresses),
    ),
    drop: filled.filter(({ watches }) => watches === 0).map(({ id }) => id),
  }
}

/** Keeps of a webhook's addresses what no other has kept, as many as may be. */
function retainAddresses(
  { id, addresses }: WatchedAddresses,
  { unwatched, maxAddresses }: { unwatched: Set<string>; maxAddresses: number },
) {
  const remove: string[] = []
  let keeps = 0
  for (const address of addresses) {
    if (keeps < maxAddresses && unwatched.delete(address)) keeps += 1
    else remove.push(address)
  }
  return { id, keeps, remove }
}
