import { READ_STATE } from './read-redis-state.ts'
import { SHARED_LIMITER_SETTINGS } from './shared-quota.ts'
import type { SharedRateLimitState } from './shared-rate-limit-state.ts'

/** The part of a Redis client that is used here. Commands wait while the server is unavailable. */
export type RedisEval = {
  eval(script: string, keys: number, ...args: (string | number)[]): Promise<unknown>
}

export type SharedStateOptions = {
  /** @default the server's clock */
  clock?: () => number
  /** Requests per millisecond that the quota allows: the initial rate, which is never exceeded. @default unknown */
  knownPerMs?: number | undefined
}

/**
 * Opens the shared rate-limit state of a quota in Redis. One Lua script implements it, so that each operation
 * is atomic.
 */
export function redisSharedState(
  redis: RedisEval,
  quota: string,
  { clock, knownPerMs }: SharedStateOptions = {},
): SharedRateLimitState {
  // The state, and the send times of the current window. The braces put both keys into one slot of a Redis
  // Cluster.
  const keys = [`{${quota}}`, `{${quota}}:departures`]
  return async (op, ...args) =>
    (await redis.eval(
      SCRIPT,
      2,
      ...keys,
      JSON.stringify({ ...SHARED_LIMITER_SETTINGS, now: clock?.(), knownPerMs }),
      op,
      ...args,
    )) as string[]
}

/**
 * The shared rate limiter, in Lua: a generic cell rate algorithm whose rate is learned from 429s, for all
 * processes together.
 *
 * A sample window holds the requests between two pauses. Its grants were paid from the burst capacity of the
 * service and from the refill meanwhile, so grants / (window + pause) is a lower bound of the rate. The rate is
 * higher if the lower bound would need a larger burst than earlier windows did (as in estimate-rate.ts).
 * After a pause, requests are sent at the learned rate, which rises with (limited / doubling)³ until the next
 * 429 (as in learned-rate.ts).
 *
 * Fields of the stored state `s`, times in milliseconds of the server's clock, rates in requests per
 * millisecond:
 *
 * - base, doubling, risen, best: base rate, doubling time, time for which the rate has limited sending, best
 *   recent rate
 * - slot: time of the next permit; pause: end of the pause; newest: latest time for which a permit was issued
 * - stretch: number of the current window; since: its start; rested: idle time before it; left: permits
 *   issued in it; stride: sampling stride of its send times; isFull: 1 if it counts as started with the
 *   burst capacity refilled
 * - refused: throttled requests of the window; last, lastAt: sequence number and send time of the last of
 *   them; firstAt: send time of the first; trip: its round-trip time
 * - droughts: windows in a row without a grant; earlier: earlier windows, as JSON
 *
 * Operations: `reserve` issues permits, `pause` records a 429 or a requested pause, `read` changes nothing.
 * Numbers are returned as text.
 */
const SCRIPT = `
${READ_STATE}
if s.since == 0 then s.since = now; s.rested = settings.ttlMs; s.stride = 1; s.isFull = 1 end
-- A state of another known rate starts over at this one, which does not rise.
local known = settings.knownPerMs or 0
if op ~= 'read' and s.known ~= known then s.known, s.base, s.doubling, s.risen = known, known, 1e15, 0 end

local function text(number) return string.format('%.6f', number) end

local function save()
  local fields = {}
  for _, name in ipairs(NAMES) do
    fields[#fields + 1] = name
    fields[#fields + 1] = string.format('%.17g', s[name])
  end
  redis.call('HSET', KEYS[1], unpack(fields))
  for _, key in ipairs(KEYS) do redis.call('PEXPIRE', key, settings.ttlMs) end
end

local function rate()
  local perMs = s.base == 0 and settings.firstPerMs * 2 ^ (s.risen / settings.firstDoublingMs)
    or s.base * (1 + (s.risen / s.doubling) ^ 3)
  return math.min(perMs, settings.knownPerMs or settings.maxPerMs)
end

-- Stores the send time of every stride-th request, which bounds the memory of a long window.
local function recordSent(at)
  if (s.left - 1) % s.stride == 0 then redis.call('RPUSH', KEYS[2], text(at)) end
  if redis.call('LLEN', KEYS[2]) < settings.maxSamples then return end
  local retained = {}
  for i, one in ipairs(redis.call('LRANGE', KEYS[2], 0, -1)) do if i % 2 == 1 then retained[#retained + 1] = one end end
  redis.call('DEL', KEYS[2])
  redis.call('RPUSH', KEYS[2], unpack(retained))
  s.stride = s.stride * 2
end

-- The burst that a token bucket with refill rate perMs must have held to grant this window.
local function burstUsed(one, perMs)
  local most = 0
  for i, at in ipairs(one.marks) do
    if at <= one.last then
      most = math.max(most, one.grants - (i - 1) * one.stride - perMs * (one.last - at))
    end
  end
  return most
end

-- The rate of the grants among the requests sent after the first throttled one: the bucket was empty, so they were
-- paid from the refill alone. nil if too few were sent.
local function overflowRate(one)
  local from, sent = s.firstAt - s.since, 0
  for _, at in ipairs(one.marks) do if at >= from then sent = sent + one.stride end end
  if sent < settings.overflowMinRequests then return nil end
  return settings.overflowShare * (sent - s.refused) / math.max(1, s.newest - s.firstAt)
end

local function firstRate(one, length, least)
  local most = one.grants / length
  local measured = overflowRate(one)
  return measured and math.max(least, math.min(most, measured)) or math.sqrt(least * most)
end

local function estimateRate(one, earlier, least)
  local perMs, peak = least, rate()
  local function smallest()
    local store = math.huge
    for _, other in ipairs(earlier) do store = math.min(store, burstUsed(other, perMs)) end
    return store
  end
  while perMs < peak and burstUsed(one, perMs) > smallest() + 0.5 do perMs = perMs * 1.01 end
  return perMs
end

-- The rate of the grants in the last sustainedMs before the last 429, which no burst explains; 0 if the window was too short.
local function sustainedRate(one)
  local from = math.max(0, one.last - settings.sustainedMs)
  local length = one.last - from
  if length < settings.sustainedMs / 4 then return 0 end
  local sent = 0
  for _, at in ipairs(one.marks) do if at > from and at <= one.last then sent = sent + one.stride end end
  return (sent - s.refused) / length
end

-- Keeps the first window, which started with the full burst capacity, and the latest two that did.
local function rememberWindow(earlier, one)
  earlier[#earlier + 1] = one
  if #earlier > 3 then table.remove(earlier, 2) end
  redis.call('HSET', KEYS[1], 'earlier', cjson.encode(earlier))
end

local function learnRate(grants)
  local earlier, marks = readEarlierWindows(), readSentTimes(s.since)
  local one = {marks = marks, stride = s.stride, grants = grants, last = s.lastAt - s.since}
  local length = math.max(s.lastAt - s.since, s.trip, 1)
  local paused = math.max(now - s.lastAt, 1)
  local least = grants / (length + math.min(s.rested, paused))
  local isFirst = s.base == 0
  local seen = isFirst and firstRate(one, length, least) or estimateRate(one, earlier, least)
  if not isFirst then seen = settings.safetyShare * math.max(seen, sustainedRate(one)) end
  if s.isFull == 1 then rememberWindow(earlier, one) end
  local weight = math.min(1, length / paused, 2 * paused / length)
  local base = isFirst and seen or math.max(seen, settings.minRetainedShare * rate() * weight)
  s.best = isFirst and 0 or math.max(seen, s.best * settings.bestRateDecay)
  local sooner = s.best > 0 and math.max(settings.minSpeedUp, math.min(1, base / s.best) ^ settings.speedUpPower) or 1
  local most = math.max(settings.probeMaxPauses * paused, settings.probeMaxRequests / base) * sooner
  s.doubling = math.max(settings.probeMinMs, 40 / base, math.min(settings.probeWindows * length, most))
  if isFirst then s.doubling = math.min(settings.probeFirstMs, settings.probeWindows * length) end
  s.isFull = (isFirst or base > least * 1.01) and 1 or 0
  s.base, s.rested, s.droughts = math.max(base, settings.minPerMs), paused, 0
end

-- Starts the window after a pause. By now the outcomes of the requests sent before it should be known.
local function resumeAfterPause()
  local grants = s.last - s.refused
  if grants > 0 then learnRate(grants)
  else
    s.base = math.max(rate() * settings.minRetainedShare, settings.minPerMs)
    s.doubling = s.doubling == 1e15 and settings.probeMinMs or math.max(settings.probeMinMs, s.doubling)
    s.rested = s.rested + now - s.since
    s.droughts = s.droughts + 1
  end
  s.stretch = s.stretch + 1
  s.risen, s.since, s.slot, s.left, s.newest = 0, now, now, 0, 0
  s.refused, s.last, s.lastAt, s.trip, s.stride, s.firstAt = 0, 0, 0, 0, 1, 0
  redis.call('DEL', KEYS[2])
end

if op == 'read' then return {text(s.left == 0 and s.base == 0 and 0 or rate()), text(math.max(0, s.pause - now))} end

if op == 'pause' then
  local stretch, nth, at, wait = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
  if stretch == s.stretch then
    if s.refused == 0 then s.trip = math.max(1, now - at) end
    s.firstAt = s.refused == 0 and at or math.min(s.firstAt, at)
    s.refused = s.refused + 1
    s.last = math.max(s.last, nth)
    s.lastAt = math.max(s.lastAt, at)
    if wait < 0 and s.refused == 1 then wait = math.min(settings.maxBackoffMs, settings.firstBackoffMs * 2 ^ s.droughts) end
  end
  s.pause = math.max(s.pause, now + math.max(0, wait))
  save()
  return {}
end

if s.pause > now then return {text(s.pause - now), text(s.pause - now), text(s.stretch)} end
if s.refused > 0 then resumeAfterPause() end
local answer = {}
local most = tonumber(ARGV[3])
local earliest = now - settings.catchUpMs
-- Permits of a time without requests are dropped, so that no burst follows; nor does the rate rise during it.
local wasIdle = s.slot < earliest
s.slot = math.max(s.slot, earliest, s.pause)
while #answer < 3 * most and s.slot - now <= settings.lookAheadMs do
  local interval = 1 / rate()
  -- Late requests catch up with a minimum spacing, not in a burst.
  local delay = math.max(0, s.slot - now, s.newest + interval * settings.minSpacing - now)
  if delay > settings.lookAheadMs then break end
  s.left = s.left + 1
  s.newest = now + delay
  answer[#answer + 1] = text(delay)
  answer[#answer + 1] = text(s.left)
  answer[#answer + 1] = text(now + delay)
  recordSent(now + delay)
  if not wasIdle then s.risen = s.risen + interval end
  wasIdle = false
  s.slot = s.slot + interval
end
save()
return {text(0), text(math.max(0, math.max(s.slot, s.newest) - now - settings.lookAheadMs)), text(s.stretch), unpack(answer)}
`
