/** A webhook and the addresses that it watches, in lower case. */
export type WatchedAddresses = { id: string; addresses: readonly string[] }

export type WebhookPlan = {
  /** Per webhook, the addresses to remove and then the addresses to add. */
  change: { id: string; remove: string[]; add: string[] }[]
  /** Addresses of each webhook to create. */
  create: string[][]
  /** Ids of webhooks that are no longer needed. */
  drop: string[]
}

export type DesiredWebhooks = {
  /** Unique addresses, in lower case. */
  desired: readonly string[]
  /** Existing webhooks, in the order in which they are filled. */
  webhooks: readonly WatchedAddresses[]
  /** Maximum number of addresses per webhook. */
  maxAddresses: number
}

/** Plans the changes after which the webhooks watch each desired address exactly once, with few moved addresses. */
export function planWebhooks({ desired, webhooks, maxAddresses }: DesiredWebhooks): WebhookPlan {
  const unwatched = new Set(desired)
  const retained = webhooks.map(({ id, addresses }) =>
    retainAddresses({ id, addresses }, unwatched, maxAddresses),
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

/** Retains a webhook's desired addresses that no earlier webhook retains, up to the maximum. */
function retainAddresses({ id, addresses }: WatchedAddresses, unwatched: Set<string>, maxAddresses: number) {
  const remove: string[] = []
  let keeps = 0
  for (const address of addresses) {
    if (keeps < maxAddresses && unwatched.delete(address)) keeps += 1
    else remove.push(address)
  }
  return { id, keeps, remove }
}
