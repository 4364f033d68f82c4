// Input latency: time from a pointer event to the image that shows its effect.
//
// Each `drag` carries the time of its pointer event; a frame echoes the newest one that it includes. A sample ends when the GPU
// has finished the image of that frame and the browser has begun its next one, so that it is not counted too early.

const KEPT = 2000;

export class Latency {
  private waiting: number[] = [];
  readonly samples: number[] = [];

  sent(stamp: number): void {
    this.waiting.push(stamp);
    if (this.waiting.length > KEPT) this.waiting.shift();
  }

  get pending(): boolean {
    return this.waiting.length > 0;
  }

  /** The image of a frame that includes all events up to `echo` is complete at `now`. */
  shown(echo: number, now: number): void {
    let done = 0;
    while (done < this.waiting.length && this.waiting[done]! <= echo) {
      this.samples.push(now - this.waiting[done]!);
      done += 1;
    }
    this.waiting.splice(0, done);
    if (this.samples.length > KEPT) this.samples.splice(0, this.samples.length - KEPT);
  }

  clear(): void {
    this.waiting = [];
  }

  /** Median of the last samples [ms]; null: none yet. */
  median(last = 60): number | null {
    const recent = this.samples.slice(-last).sort((a, b) => a - b);
    return recent[recent.length >> 1] ?? null;
  }
}
