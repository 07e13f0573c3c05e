/**
 * The quota of a service that refuses requests on a machine of any speed: its clock stands still for the first eight
 * requests and then runs fast.
 */
export function shortQuota(): { quota: { perSecond: number; burst: number }; now: () => number } {
  let requests = 0
  return {
    quota: { perSecond: 50, burst: 3 },
    now: () => {
      requests += 1
      return requests <= 8 ? 0 : requests * 1e3
    },
  }
}
