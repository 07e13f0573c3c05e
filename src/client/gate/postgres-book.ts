import type { Book } from './quota-book.ts'
import { SHARED_PACE } from './shared-quota.ts'

/** What is needed of a PostgreSQL client; it waits for a server that is away, and finds our tables by name. */
export type SqlQueries = { query(text: string, values: unknown[]): Promise<{ rows: unknown[] }> }

/** The book of a quota on PostgreSQL: one function, by the clock of the server unless a test has its own. */
export function postgresBook(sql: SqlQueries, quota: string, clock?: () => number): Book {
  return async (op, ...args) => {
    const values = [quota, JSON.stringify({ ...SHARED_PACE, now: clock?.() }), op, args]
    const { rows } = await sql.query('SELECT quota_book($1, $2, $3, $4::float8[]) AS answer', values)
    return (rows as { answer: number[] }[])[0]?.answer ?? []
  }
}

/** The columns that are named as in the book on Redis, but for words of SQL. */
const TABLE = `
CREATE TYPE quota_stretch AS (marks float8[], stride float8, grants float8, last_at float8);
CREATE TABLE quota (
  name text PRIMARY KEY,
  base float8 NOT NULL DEFAULT 0, doubling float8 NOT NULL DEFAULT 0, risen float8 NOT NULL DEFAULT 0,
  best float8 NOT NULL DEFAULT 0, slot float8 NOT NULL DEFAULT 0, pause float8 NOT NULL DEFAULT 0,
  stretch float8 NOT NULL DEFAULT 0, since float8 NOT NULL, departed float8 NOT NULL DEFAULT 0,
  refused float8 NOT NULL DEFAULT 0, last_nth float8 NOT NULL DEFAULT 0, last_at float8 NOT NULL DEFAULT 0,
  trip float8 NOT NULL DEFAULT 0, rested float8 NOT NULL, droughts float8 NOT NULL DEFAULT 0,
  stride float8 NOT NULL DEFAULT 1, is_full boolean NOT NULL DEFAULT true, newest float8 NOT NULL DEFAULT 0, first_at float8 NOT NULL DEFAULT 0,
  marks float8[] NOT NULL DEFAULT '{}', earlier quota_stretch[] NOT NULL DEFAULT '{}', touched float8 NOT NULL
);`

const HELPERS = `
CREATE FUNCTION quota_rate(s quota, pace jsonb) RETURNS float8 IMMUTABLE LANGUAGE plpgsql AS $$
BEGIN
  IF s.base = 0 THEN
    RETURN (pace->>'firstPerMs')::float8 * power(2::float8, s.risen / (pace->>'firstDoublingMs')::float8);
  END IF;
  RETURN s.base * (1 + power(s.risen / s.doubling, 3::float8));
END $$;

-- How much the service must have had in store if it gives back so many requests a millisecond.
CREATE FUNCTION quota_drawn(one quota_stretch, per_ms float8) RETURNS float8 IMMUTABLE LANGUAGE sql AS $$
  SELECT greatest(0, max(one.grants - (i - 1) * one.stride - per_ms * (one.last_at - at)))
  FROM unnest(one.marks) WITH ORDINALITY AS marks(at, i) WHERE at <= one.last_at
$$;

CREATE FUNCTION quota_estimate(one quota_stretch, earlier quota_stretch[], lowest float8, peak float8)
RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
  per_ms float8 := lowest;
  store float8;
  other quota_stretch;
BEGIN
  LOOP
    store := 'Infinity';
    FOREACH other IN ARRAY earlier LOOP store := least(store, quota_drawn(other, per_ms)); END LOOP;
    EXIT WHEN per_ms >= peak OR quota_drawn(one, per_ms) <= store + 0.5;
    per_ms := per_ms * 1.01;
  END LOOP;
  RETURN per_ms;
END $$;

-- The rate of the very first stretch: the one at which requests were still granted after the first that was refused, or
-- halfway between what it may be where too few had left.
CREATE FUNCTION quota_first(s quota, one quota_stretch, pace jsonb, lowest float8, highest float8) RETURNS float8
LANGUAGE plpgsql AS $$
DECLARE
  kept float8;
BEGIN
  SELECT count(*) * one.stride INTO kept FROM unnest(one.marks) AS at WHERE at >= s.first_at - s.since;
  IF kept < (pace->>'overflowLeast')::float8 THEN RETURN sqrt(lowest * highest); END IF;
  kept := (pace->>'overflowShare')::float8 * (kept - s.refused) / greatest(1, s.newest - s.first_at);
  RETURN greatest(lowest, least(highest, kept));
END $$;

-- What was granted for long is no accident of a store.
CREATE FUNCTION quota_sustained(s quota, one quota_stretch, pace jsonb) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
  most float8 := (pace->>'sustainedMs')::float8;
  begun float8 := greatest(0, one.last_at - most);
  kept float8;
BEGIN
  IF one.last_at - begun < most / 4 THEN RETURN 0; END IF;
  SELECT count(*) INTO kept FROM unnest(one.marks) AS at WHERE at > begun AND at <= one.last_at;
  RETURN (kept * one.stride - s.refused) / (one.last_at - begun);
END $$;`

const LEARN = `
CREATE FUNCTION quota_learn(s quota, pace jsonb, now float8) RETURNS quota LANGUAGE plpgsql AS $$
DECLARE
  grants float8 := s.last_nth - s.refused;
  length float8 := greatest(s.last_at - s.since, s.trip, 1);
  paused float8 := greatest(now - s.last_at, 1);
  lowest float8 := grants / (length + least(s.rested, paused));
  is_first boolean := s.base = 0;
  marks float8[] := ARRAY(SELECT at - s.since FROM unnest(s.marks) WITH ORDINALITY AS kept(at, i) ORDER BY i);
  one quota_stretch := ROW(marks, s.stride, grants, s.last_at - s.since);
  was float8 := quota_rate(s, pace);
  seen float8; base float8; sooner float8; most float8;
BEGIN
  IF is_first THEN seen := quota_first(s, one, pace, lowest, grants / length);
  ELSE
    seen := greatest(quota_estimate(one, s.earlier, lowest, was), quota_sustained(s, one, pace));
    seen := (pace->>'keptShare')::float8 * seen;
  END IF;
  IF s.is_full THEN
    -- The first, which began with a full store, and the newest two that did.
    s.earlier := s.earlier || one;
    IF cardinality(s.earlier) > 3 THEN s.earlier := s.earlier[1:1] || s.earlier[3:]; END IF;
  END IF;
  base := seen;
  IF NOT is_first THEN
    most := (pace->>'largestFall')::float8 * was * least(1, length / paused, 2 * paused / length);
    base := greatest(seen, most);
  END IF;
  s.best := CASE WHEN is_first THEN 0 ELSE greatest(seen, s.best * (pace->>'memory')::float8) END;
  sooner := CASE WHEN s.best > 0 THEN greatest((pace->>'soonestShare')::float8,
    power(least(1, base / s.best), (pace->>'soonerPower')::float8)) ELSE 1 END;
  most := greatest((pace->>'probeMostPauses')::float8 * paused, (pace->>'probeMostRequests')::float8 / base) * sooner;
  s.doubling := greatest(
    (pace->>'probeLeastMs')::float8, 40 / base, least((pace->>'probeStretches')::float8 * length, most));
  IF is_first THEN
    s.doubling := least((pace->>'probeFirstMs')::float8, (pace->>'probeStretches')::float8 * length);
  END IF;
  s.is_full := is_first OR base > lowest * 1.01;
  s.base := base; s.rested := paused; s.droughts := 0;
  RETURN s;
END $$;

-- Begins the stretch after a pause: by now the answers of all that left before it are known.
CREATE FUNCTION quota_resume(s quota, pace jsonb, now float8) RETURNS quota LANGUAGE plpgsql AS $$
BEGIN
  IF s.last_nth - s.refused > 0 THEN s := quota_learn(s, pace, now);
  ELSE
    s.base := quota_rate(s, pace) * (pace->>'largestFall')::float8;
    s.doubling := greatest((pace->>'probeLeastMs')::float8, s.doubling);
    s.rested := s.rested + now - s.since;
    s.droughts := s.droughts + 1;
  END IF;
  s.stretch := s.stretch + 1;
  s.risen := 0; s.since := now; s.slot := now; s.departed := 0; s.newest := 0;
  s.refused := 0; s.last_nth := 0; s.last_at := 0; s.trip := 0; s.stride := 1; s.first_at := 0;
  s.marks := '{}';
  RETURN s;
END $$;`

const HOLD = `
CREATE FUNCTION quota_hold(s quota, pace jsonb, now float8, told float8[]) RETURNS quota LANGUAGE plpgsql AS $$
DECLARE
  wait float8 := told[4];
BEGIN
  IF told[1] = s.stretch THEN
    IF s.refused = 0 THEN s.trip := greatest(1, now - told[3]); END IF;
    s.first_at := CASE WHEN s.refused = 0 THEN told[3] ELSE least(s.first_at, told[3]) END;
    s.refused := s.refused + 1;
    s.last_nth := greatest(s.last_nth, told[2]);
    s.last_at := greatest(s.last_at, told[3]);
    IF wait < 0 AND s.refused = 1 THEN
      wait := least((pace->>'longestHoldMs')::float8,
        (pace->>'firstHoldMs')::float8 * power(2::float8, s.droughts));
    END IF;
  END IF;
  s.pause := greatest(s.pause, now + greatest(0, wait));
  RETURN s;
END $$;`

const BOOK = `
CREATE FUNCTION quota_book(quota text, pace jsonb, op text, args float8[]) RETURNS float8[] LANGUAGE plpgsql AS $$
DECLARE
  s quota;
  now float8;
  ahead float8 := (pace->>'lookAheadMs')::float8;
  earliest float8; is_lull boolean; delay float8; gap float8;
  answer float8[] := '{}';
BEGIN
  LOOP
    SELECT * INTO s FROM quota AS q WHERE q.name = quota_book.quota FOR UPDATE;
    -- The clock is read once the row is ours: nobody's time runs back.
    now := coalesce((pace->>'now')::float8, extract(epoch FROM clock_timestamp())::float8 * 1000);
    EXIT WHEN s.touched > now - (pace->>'forgetMs')::float8;
    IF op = 'look' THEN RETURN '{0,0}'; END IF;
    DELETE FROM quota AS q WHERE q.touched <= now - (pace->>'forgetMs')::float8;
    INSERT INTO quota (name, since, rested, touched)
      VALUES (quota_book.quota, now, (pace->>'forgetMs')::float8, now) ON CONFLICT DO NOTHING;
  END LOOP;

  IF op = 'look' THEN
    RETURN ARRAY[CASE WHEN s.departed = 0 AND s.base = 0 THEN 0 ELSE quota_rate(s, pace) END,
      greatest(0, s.pause - now)];
  END IF;
  IF op = 'take' THEN
    IF s.pause > now THEN RETURN ARRAY[s.pause - now, s.pause - now, s.stretch]; END IF;
    IF s.refused > 0 THEN s := quota_resume(s, pace, now); END IF;
    earliest := now - (pace->>'catchUpMs')::float8;
    -- A lull is lost, so that no herd leaves after it; nor does the rate rise in it.
    is_lull := s.slot < earliest;
    s.slot := greatest(s.slot, earliest, s.pause);
    WHILE cardinality(answer) < 3 * args[1] AND s.slot - now <= ahead LOOP
      gap := 1 / quota_rate(s, pace);
      -- Who is late catches up step by step, no herd.
      delay := greatest(0, s.slot - now, s.newest + gap * (pace->>'closest')::float8 - now);
      EXIT WHEN delay > ahead;
      s.departed := s.departed + 1;
      s.newest := now + delay;
      answer := answer || ARRAY[delay, s.departed, s.newest];
      -- Every stride-th departure of the stretch, so that a long one takes no more room than a short one.
      IF (s.departed - 1)::bigint % s.stride::bigint = 0 THEN s.marks := s.marks || s.newest; END IF;
      IF cardinality(s.marks) >= (pace->>'mostMarks')::integer THEN
        s.marks := ARRAY(SELECT at FROM unnest(s.marks) WITH ORDINALITY AS kept(at, i) WHERE i % 2 = 1 ORDER BY i);
        s.stride := s.stride * 2;
      END IF;
      IF NOT is_lull THEN s.risen := s.risen + gap; END IF;
      is_lull := false;
      s.slot := s.slot + gap;
    END LOOP;
    answer := ARRAY[0, greatest(0, greatest(s.slot, s.newest) - now - ahead), s.stretch] || answer;
  ELSE s := quota_hold(s, pace, now, args);
  END IF;
  s.touched := now;
  UPDATE quota AS q SET
    (base, doubling, risen, best, slot, pause, stretch, since, departed, refused, last_nth, last_at, trip, rested,
      droughts, stride, is_full, newest, first_at, marks, earlier, touched) =
    (s.base, s.doubling, s.risen, s.best, s.slot, s.pause, s.stretch, s.since, s.departed, s.refused, s.last_nth,
      s.last_at, s.trip, s.rested, s.droughts, s.stride, s.is_full, s.newest, s.first_at, s.marks, s.earlier, s.touched)
    WHERE q.name = s.name;
  RETURN answer;
END $$;`

/**
 * The same as the script for Redis, step by step, as a test holds the two against each other: a row is a book, which is
 * locked while it is asked. To be run once in an empty schema, which is the one that names are looked for in.
 */
export const QUOTA_SQL = [TABLE, HELPERS, LEARN, HOLD, BOOK].join('\n')
