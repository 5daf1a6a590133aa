-- One operation, or several first attempts for one lock. Included by lock.lua after exclusive_grants.lua, never run alone.

-- Several attempts have their answers in the list, and nil is returned.
function operate(key, text, i, last)
  local id, what, number, note, words = ARGV[4 * i - 3], byte(ARGV[4 * i - 2]), sub(ARGV[4 * i - 2], 2), ARGV[4 * i - 1], ARGV[4 * i]
  local is_share, answer = what == S or what == 85 or what == 115, nil
  local is_attempt = is_share or what == 65 or what == 84 or what == 97
  keys = {key, key .. ':queue', key .. ':claims', key .. ':held', key .. ':gone', key .. ':interest', key .. ':aside'}
  unreachable, taken_out, is_ending = {}, 0, not is_attempt
  local failure = read_record(text)
  if failure then
    local is_foreign = find(failure.err or failure, '^FOREIGN') or find(failure.err or failure, 'WRONGTYPE', 1, true)
    return (is_attempt or not is_foreign) and failure or 0
  end
  if is_alone then
    return rest().record_alone(id, is_attempt, number, note, words)
  end
  failure = is_shared and rest().shares().read_holders()
  if failure then
    return failure
  end
  local own = is_attempt and match(note, '^%d+ %d+ (%S+)') or note
  local its_name = match(own, CLIENT)
  if has_flag(4) and own ~= '-' and call('ZRANGEBYLEX', keys[7], '[' .. its_name .. ' ', '(' .. its_name .. '!', 'LIMIT', 0, 1)[1] then
    rest().trust(own)
  end
  if sweeps then
    rest().sweep_some(sweeps)
    return nil
  end
  if is_shared then
    answer = rest().shares().operate(id, what, number, note, words, own)
    if answer then
      return answer
    end
  end
  local is_usual = holder and ends > now
  local is_free = not holder and count_taken == 0 or holder and ends <= now and ends % 2 == 1 and size == 1 and holder ~= id -- or over, after a confirmed grant
  if is_free and (what == 65 or what == 84) and i == last and not has_flag(1) and not (has_flag(2) and call('ZSCORE', keys[5], id)) then
    -- Without waiters that can be granted; some may be aside.
    local flag = flags() - (has_flag(4) and call('EXISTS', keys[7]) == 0 and 4 or 0)
    local its_lease, its_client = match(note, '^1 (%d+) %S+ (%S+)$')
    hold(flag, id, 1, tonumber(its_lease), own, its_client, 1, math.max(token + 1, now, tonumber(match(words, ' (%d+) '))), tonumber(its_lease), false, now)
    answer = token
  elseif is_attempt then
    for n = i, last do
      answers[n] = rest().acquire(ARGV[4 * n - 3], ARGV[4 * n - 1], ARGV[4 * n])
    end
  elseif what == 82 and is_usual and size == 1 and holder == id and attempt == tonumber(number) then
    if has_flag(1) then
      answer = served(1, note, tonumber(match(words, '^%d+')))
    else
      free(flags())
      answer = 1
    end
  elseif what == 82 or what == 114 then
    answer = rest().release(id, tonumber(number), note, words, what == 114)
  elseif what == 69 and is_usual and size > 1 and format('%.0f', token - size + 1) == number and tonumber(match(words, '%d+$')) >= size then
    answer = end_of_run(id, number, note, tonumber(match(words, '^%d+')))
  elseif what == 69 then
    answer = rest().end_run(id, number, note, words)
  elseif what == 68 then
    answer = rest().adopt(id, tonumber(number), note, tonumber(words))
  else
    answer = rest().break_hold(id, note, tonumber(words))
  end
  if holder and ends % 2 == 0 and match(channel, CLIENT) == its_name and since < now then -- the client calls after the grant: it lives
    try('SETRANGE', key, 18, ends % 10 + 1)
  end
  return answer
end
