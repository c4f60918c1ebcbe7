/** Shell source that starts descendants in every way that is known to lose them; $MARK marks them. */
export const ESCAPES = `
  sleep $MARK &
  setsid sleep $MARK &
  nohup sleep $MARK > /dev/null 2>&1 &
  env -i /bin/sleep $MARK &
  (setsid sh -c 'sleep '$MARK' & (setsid env -i /bin/sleep '$MARK' &)' &)
  (trap '' HUP INT TERM; cd /; exec sleep $MARK) > /dev/null 2>&1 < /dev/null &
`;
/** How many that are. */
export const ESCAPED = 7;
