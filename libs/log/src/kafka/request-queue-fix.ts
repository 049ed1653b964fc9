import RequestQueue from 'kafkajs/src/network/requestQueue/index.js';

const RECHECK_MS = 10;

/**
 * kafkajs looks after every response whether requests wait, by a timer that sets itself again: a loop of about 1 ms a connection
 * that never ends, and a TimeoutNegativeWarning on newer versions of Node.js. A look is due only while something waits.
 *
 * https://github.com/tulios/kafkajs/issues/1704, https://github.com/tulios/kafkajs/issues/1751
 */
RequestQueue.prototype.scheduleCheckPendingRequests = function (): void {
  if (this.pending.length === 0 || this.throttleCheckTimeoutId !== null) return;
  const throttledMs = this.throttledUntil - Date.now();
  this.throttleCheckTimeoutId = setTimeout(
    () => {
      this.throttleCheckTimeoutId = null;
      this.checkPendingRequests();
    },
    throttledMs > 0 ? throttledMs : RECHECK_MS,
  );
};
