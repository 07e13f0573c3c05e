/** Counts time in ticks of 50 ms, of which none pass while the machine itself stands still. */
export function countTicks(): () => number {
  let ticks = 0
  const timer = setInterval(() => {
    ticks += 1
  }, 50)
  return () => {
    clearInterval(timer)
    return ticks
  }
}
