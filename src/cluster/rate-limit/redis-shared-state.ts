import { READ_STATE } from './read-redis-state.ts'
import { SHARED_LIMITER_SETTINGS } from './shared-quota.ts'
import type { SharedRateLimitState } from './shared-rate-limit-state.ts'

/** What is needed of a Redis client; it waits for a server that is away. */
export type RedisEval = {
  eval(script: string, keys: number, ...args: (string | number)[]): Promise<unknown>
}

/** The book of a quota on Redis: one script, by the clock of the server unless a test has its own. */
export function redisSharedState(
  redis: RedisEval,
  quota: string,
  clock?: () => number,
): SharedRateLimitState {
  // The book, and when requests left lately; in one slot of a cluster.
  const keys = [`{${quota}}`, `{${quota}}:departures`]
  return async (op, ...args) =>
    (await redis.eval(
      SCRIPT,
      2,
      ...keys,
      JSON.stringify({ ...SHARED_LIMITER_SETTINGS, now: clock?.() }),
      op,
      ...args,
    )) as string[]
}

/**
 * The book of a quota, in Lua: a generic cell rate whose rate is learnt from refusals, for all processes together.
 *
 * The time between two pauses is a stretch. What was granted in one came from the service's store and from what came back
 * meanwhile, so that its grants over length and pause are the least that the rate can be; it is more where that would need
 * a bigger store than earlier stretches did (as in estimate.ts). After a pause requests leave at the rate that was learnt,
 * which rises, flat at first and then ever steeper, until the next refusal (as in plan.ts).
 *
 * `take` gives slots, `hold` tells of a refusal or of a pause, `look` takes nothing. Numbers are passed as text.
 */
const SCRIPT = `
${READ_STATE}
if s.since == 0 then s.since = now; s.rested = pace.forgetMs; s.stride = 1; s.isFull = 1 end

local function text(number) return string.format('%.6f', number) end

local function save()
  local fields = {}
  for _, name in ipairs(NAMES) do
    fields[#fields + 1] = name
    fields[#fields + 1] = string.format('%.17g', s[name])
  end
  redis.call('HSET', KEYS[1], unpack(fields))
  for _, key in ipairs(KEYS) do redis.call('PEXPIRE', key, pace.forgetMs) end
end

local function rate()
  local perMs = s.base == 0 and pace.firstPerMs * 2 ^ (s.risen / pace.firstDoublingMs)
    or s.base * (1 + (s.risen / s.doubling) ^ 3)
  return math.min(perMs, pace.mostPerMs)
end

-- Every stride-th departure of the stretch, so that a long one takes no more room than a short one.
local function mark(at)
  if (s.left - 1) % s.stride == 0 then redis.call('RPUSH', KEYS[2], text(at)) end
  if redis.call('LLEN', KEYS[2]) < pace.mostMarks then return end
  local kept = {}
  for i, one in ipairs(redis.call('LRANGE', KEYS[2], 0, -1)) do if i % 2 == 1 then kept[#kept + 1] = one end end
  redis.call('DEL', KEYS[2])
  redis.call('RPUSH', KEYS[2], unpack(kept))
  s.stride = s.stride * 2
end

-- How much the service must have had in store if it gives back so many requests a millisecond.
local function drawn(one, perMs)
  local most = 0
  for i, at in ipairs(one.marks) do
    if at <= one.last then
      most = math.max(most, one.grants - (i - 1) * one.stride - perMs * (one.last - at))
    end
  end
  return most
end

-- The rate at which requests were still granted after the first that was refused; nothing where too few had left.
local function overflow(one)
  local from, left = s.firstAt - s.since, 0
  for _, at in ipairs(one.marks) do if at >= from then left = left + one.stride end end
  if left < pace.overflowLeast then return nil end
  return pace.overflowShare * (left - s.refused) / math.max(1, s.newest - s.firstAt)
end

local function first(one, length, least)
  local most = one.grants / length
  local measured = overflow(one)
  return measured and math.max(least, math.min(most, measured)) or math.sqrt(least * most)
end

local function estimate(one, earlier, least)
  local perMs, peak = least, rate()
  local function smallest()
    local store = math.huge
    for _, other in ipairs(earlier) do store = math.min(store, drawn(other, perMs)) end
    return store
  end
  while perMs < peak and drawn(one, perMs) > smallest() + 0.5 do perMs = perMs * 1.01 end
  return perMs
end

-- What was granted for long is no accident of a store.
local function sustained(one)
  local from = math.max(0, one.last - pace.sustainedMs)
  local length = one.last - from
  if length < pace.sustainedMs / 4 then return 0 end
  local left = 0
  for _, at in ipairs(one.marks) do if at > from and at <= one.last then left = left + one.stride end end
  return (left - s.refused) / length
end

-- The first, which began with a full store, and the newest two that did.
local function remember(earlier, one)
  earlier[#earlier + 1] = one
  if #earlier > 3 then table.remove(earlier, 2) end
  redis.call('HSET', KEYS[1], 'earlier', cjson.encode(earlier))
end

local function learn(grants)
  local earlier, marks = readEarlier(), readMarks(s.since)
  local one = {marks = marks, stride = s.stride, grants = grants, last = s.lastAt - s.since}
  local length = math.max(s.lastAt - s.since, s.trip, 1)
  local paused = math.max(now - s.lastAt, 1)
  local least = grants / (length + math.min(s.rested, paused))
  local isFirst = s.base == 0
  local seen = isFirst and first(one, length, least) or estimate(one, earlier, least)
  if not isFirst then seen = pace.keptShare * math.max(seen, sustained(one)) end
  if s.isFull == 1 then remember(earlier, one) end
  local weight = math.min(1, length / paused, 2 * paused / length)
  local base = isFirst and seen or math.max(seen, pace.largestFall * rate() * weight)
  s.best = isFirst and 0 or math.max(seen, s.best * pace.memory)
  local sooner = s.best > 0 and math.max(pace.soonestShare, math.min(1, base / s.best) ^ pace.soonerPower) or 1
  local most = math.max(pace.probeMostPauses * paused, pace.probeMostRequests / base) * sooner
  s.doubling = math.max(pace.probeLeastMs, 40 / base, math.min(pace.probeStretches * length, most))
  if isFirst then s.doubling = math.min(pace.probeFirstMs, pace.probeStretches * length) end
  s.isFull = (isFirst or base > least * 1.01) and 1 or 0
  s.base, s.rested, s.droughts = math.max(base, pace.leastPerMs), paused, 0
end

-- Begins the stretch after a pause: by now the answers of all that left before it are known.
local function resume()
  local grants = s.last - s.refused
  if grants > 0 then learn(grants)
  else
    s.base = math.max(rate() * pace.largestFall, pace.leastPerMs)
    s.doubling = math.max(pace.probeLeastMs, s.doubling)
    s.rested = s.rested + now - s.since
    s.droughts = s.droughts + 1
  end
  s.stretch = s.stretch + 1
  s.risen, s.since, s.slot, s.left, s.newest = 0, now, now, 0, 0
  s.refused, s.last, s.lastAt, s.trip, s.stride, s.firstAt = 0, 0, 0, 0, 1, 0
  redis.call('DEL', KEYS[2])
end

if op == 'look' then return {text(s.left == 0 and s.base == 0 and 0 or rate()), text(math.max(0, s.pause - now))} end

if op == 'hold' then
  local stretch, nth, at, wait = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
  if stretch == s.stretch then
    if s.refused == 0 then s.trip = math.max(1, now - at) end
    s.firstAt = s.refused == 0 and at or math.min(s.firstAt, at)
    s.refused = s.refused + 1
    s.last = math.max(s.last, nth)
    s.lastAt = math.max(s.lastAt, at)
    if wait < 0 and s.refused == 1 then wait = math.min(pace.longestHoldMs, pace.firstHoldMs * 2 ^ s.droughts) end
  end
  s.pause = math.max(s.pause, now + math.max(0, wait))
  save()
  return {}
end

if s.pause > now then return {text(s.pause - now), text(s.pause - now), text(s.stretch)} end
if s.refused > 0 then resume() end
local answer = {}
local most = tonumber(ARGV[3])
local earliest = now - pace.catchUpMs
-- A lull is lost, so that no herd leaves after it; nor does the rate rise in it.
local isLull = s.slot < earliest
s.slot = math.max(s.slot, earliest, s.pause)
while #answer < 3 * most and s.slot - now <= pace.lookAheadMs do
  local interval = 1 / rate()
  -- Who is late catches up step by step, no herd.
  local delay = math.max(0, s.slot - now, s.newest + interval * pace.closest - now)
  if delay > pace.lookAheadMs then break end
  s.left = s.left + 1
  s.newest = now + delay
  answer[#answer + 1] = text(delay)
  answer[#answer + 1] = text(s.left)
  answer[#answer + 1] = text(now + delay)
  mark(now + delay)
  if not isLull then s.risen = s.risen + interval end
  isLull = false
  s.slot = s.slot + interval
end
save()
return {text(0), text(math.max(0, math.max(s.slot, s.newest) - now - pace.lookAheadMs)), text(s.stretch), unpack(answer)}
`
