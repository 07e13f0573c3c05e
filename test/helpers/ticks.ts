/**
 * Counts timer ticks of 50 ms. Unlike a clock, the count does not advance while the process gets no CPU time.
 */
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
