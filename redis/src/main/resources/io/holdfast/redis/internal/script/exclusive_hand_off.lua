-- The usual release of a lock with flag 1 by the claim that holds it alone: a hand-off to a first waiter that wants it alone, can be reached and begins no
-- run; or the last waiter has got the lock. Part of the loop of lock.lua, with arguments as exclusive_join.lua.
-- Returns the answer; nothing, and has written nothing, if something is not as usual.
function(take, try, sub, find, match, format, own, words, now, now_digits, key, text, flag)
  local queue, claims = key .. ':queue', key .. ':claims'
  local ids = try('ZRANGE', queue, 0, 1)
  if not ids[1] and not ids.err and flag < 52 and try('EXISTS', key .. ':interest') == 0 then
    local freed = try('SET', key, '1F' .. flag - 49 .. sub(text, 20, 35), 'KEEPTTL')
    return not freed.err and 1 or nil
  end
  local entries = ids[1] and try('HMGET', claims, ids[1], ids[2] or '')
  local lease, client, floor, channel, secret, attempt, sent, asked =
    match(entries and entries[1] or '', '^(%d+) (%S+) (%d+) (%S+) %- (%S+) (%d+) (%d+) (%d+)$')
  if not lease or channel == '-' or floor ~= '0' or now - asked > lease * 500
    or client ~= '-' and entries[2] and find(entries[2], lease .. ' ' .. client .. ' 0 ' .. channel .. ' - ', 1, true) == 1
    or flag >= 52 and try('ZSCORE', key .. ':aside', match(channel, '^[^{]+') .. ' 0')
    or channel ~= own and (try('PUBSUB', 'NUMSUB', channel)[2] or 0) == 0 then
    return
  end
  local ms, last = math.min(match(words, '^%d+'), lease), sub(text, 20, 35)
  local ends = now - now % 2 + ms * 1000 -- even: see record.lua
  local token, token_digits, kept = now, now_digits, ends
  if last >= now_digits then
    token = math.max((tonumber(last) or 0) + 1, now, floor)
    token_digits, kept = format('%010d%06d', token / 1000000, token % 1000000), math.max(ends, token)
  end
  -- A server without memory refuses this; the longer way writes something else first.
  local saved = try('SET', key, sub(text, 1, 3) .. format('%010d%06d', ends / 1000000, ends % 1000000) .. token_digits .. attempt .. ' ' .. lease .. ' '
    .. channel .. ' ' .. client .. ' ' .. now_digits .. ' 1\n' .. ids[1], 'EXAT', format('%d', kept / 1000000 + KEPT_SECONDS))
  if saved.err then
    return
  end
  try('ZREM', queue, ids[1]) -- before the message, which the user may have no right to send
  try('HDEL', claims, ids[1])
  local valid, answer = ms + math.floor(math.max(0, now - sent) / 1000), 1
  if channel == own then
    answer = {1, token, tonumber(attempt), valid, 1, ids[1]}
  else
    local message = token_digits .. ' ' .. attempt .. ' ' .. valid .. ' ' .. #ids[1] .. ' ' .. ids[1] .. ' ' .. key
    message = 'G ' .. redis.sha1hex(secret .. redis.sha1hex(secret .. channel .. ' ' .. message)) .. ' ' .. message -- see signed() and publish()
    local receivers = find(channel, '{', 1, true) and try('SPUBLISH', channel, message)
    if type(receivers) ~= 'number' or receivers == 0 then
      receivers = take('PUBLISH', channel, message)
    end
    answer = type(receivers) == 'table' and receivers or 1
  end
  return answer
end
