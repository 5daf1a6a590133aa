-- The usual join: a first attempt, not beside others in this call, joins the queue of a held mutex. Spliced into the loop of mutex.lua, so it defines no function.
-- It writes nothing, and leaves the answer open, if anything else is the case.
local queue, claims, note = key .. ':queue', key .. ':claims', ARGV[at - 1]
local limit, floor, claim_ms, secret = match(ARGV[at], '^queue:?(%d*) (%d+) (%d+) (%S+)$')
local channel_at = #number + 4 -- in '1 <lease> <channel> <client>'
local channel_end, line_end = find(note, ' ', channel_at, true), find(text, '\n', 36, true)
local last, waiting = try('ZRANGE', queue, -1, -1, 'WITHSCORES'), try('ZCARD', queue)
local ends = tonumber(sub(text, 4, 19))
if not last.err and ends and (limit == '' or waiting < tonumber(limit)) and line_end and sub(text, line_end + 1) ~= id
  and (now % 16 > 0 or waiting < 64 and waiting + 16 > (tonumber(try('HLEN', claims)) or 0)) -- else it sweeps
  -- Of a run: no member has left it, so each one is among the waiters.
  and (byte(text, line_end - 1) == 49 and byte(text, line_end - 2) == 32 or try('HGET', claims, '"') == false) then
  local own = sub(note, channel_at, channel_end - 1)
  local entry = number .. sub(note, channel_end) .. ' ' .. floor .. ' ' .. own .. ' - ' .. secret .. ' 1 ' .. now_digits .. ' ' .. now_digits
  if try('HSETNX', claims, id, entry) == 1 then
    local ticket = last[2] and last[2] >= now_digits and format('%.0f', last[2] + 1) or now_digits
    call('ZADD', queue, ticket, id)
    local lease, kept = tonumber(number), call('PTTL', claims)
    if kept < lease then
      call('PEXPIRE', claims, 2 * lease)
      call('PEXPIRE', queue, 2 * lease)
    elseif waiting == 0 then
      call('PEXPIRE', queue, kept)
    end
    if flag == 48 then
      call('SETRANGE', key, 2, '1')
    end
    -- A pushed grant, and its client calls after it: it lives.
    if byte(text, 19) % 2 == 0 and own ~= '-' and find(text, ' ' .. own .. ' ', 36, true) and not find(text, ' ' .. now_digits .. ' ', 36, true) then
      call('SETRANGE', key, 18, byte(text, 19) - 47)
    end
    local pause = math.min((ends - now) / 1000 + 10 * math.min(waiting + 1, 100), lease / 3, waiting < 2 and claim_ms or lease)
    answer = {2, math.max(1, math.floor(pause))}
  end
end
