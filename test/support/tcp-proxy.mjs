// @ts-check
/** A way to a server that can be cut, stalled, and left half-open. */
import { once } from 'node:events';
import { connect, createServer } from 'node:net';

/** @typedef {import('node:net').Socket} Socket */

/** One connection of a client, and the one that was made for it to the server. */
class Link {
  #near;
  #far;
  #frozen = false;
  /** What waits for the thaw, in order. @type {(() => void)[]} */
  #held = [];

  /**
   * @param {Socket} near
   * @param {Socket} far
   * @param {() => void} onGone
   */
  constructor(near, far, onGone) {
    this.#near = near;
    this.#far = far;
    let open = 2;
    const onClose = () => {
      open -= 1;
      if (open === 0) onGone();
    };
    this.#forward(near, far, onClose);
    this.#forward(far, near, onClose);
  }

  freeze() {
    this.#frozen = true;
  }

  thaw() {
    this.#frozen = false;
    for (const pass of this.#held.splice(0)) pass();
  }

  destroy() {
    this.#near.destroy();
    this.#far.destroy();
  }

  /**
   * @param {Socket} from
   * @param {Socket} to
   * @param {() => void} onClose
   */
  #forward(from, to, onClose) {
    from.on('error', () => {}); // 'close' follows
    from.on('data', (chunk) => this.#pass(() => to.write(chunk)));
    from.on('close', () => {
      // Over a dead line one side does not learn that the other has gone.
      this.#pass(() => to.destroy());
      onClose();
    });
  }

  /** @param {() => void} pass */
  #pass(pass) {
    if (this.#frozen) this.#held.push(pass);
    else pass();
  }
}

export class TcpProxy {
  /** @type {Set<Link>} */
  #links = new Set();
  #target;
  #server = createServer((near) => this.#accept(near));
  #port = 0;
  #freezesNewcomers = false;

  /** @param {{ host: string, port: number }} target */
  constructor(target) {
    this.#target = target;
  }

  /** @param {{ host: string, port: number }} target */
  static async to(target) {
    const proxy = new TcpProxy(target);
    await proxy.comeBack();
    return proxy;
  }

  /**
   * The proxy to the server of a URL, and the URL that goes through it.
   * @param {string} target
   */
  static async toUrl(target) {
    const url = new URL(target);
    const proxy = await TcpProxy.to({ host: url.hostname, port: Number(url.port) });
    url.port = String(proxy.port);
    return { proxy, url: url.href };
  }

  get port() {
    return this.#port;
  }

  get connections() {
    return this.#links.size;
  }

  /**
   * Closes connections, as a server does that goes away.
   * @param {(link: object) => boolean} [which] default: all
   */
  cut(which = () => true) {
    for (const link of this.#links) if (which(link)) link.destroy();
  }

  /**
   * Forwards nothing any more on connections that stay open: neither side learns of it.
   * @param {(link: object) => boolean} [which] default: all
   * @returns {() => void} forwards what has been held back, and goes on
   */
  freeze(which = () => true) {
    const frozen = [...this.#links].filter(which);
    for (const link of frozen) link.freeze();
    return () => {
      for (const link of frozen) link.thaw();
    };
  }

  /**
   * Whether new connections are accepted and then meet silence.
   * @param {boolean} silent
   */
  freezeNewcomers(silent) {
    this.#freezesNewcomers = silent;
  }

  /** Closes every connection and refuses new ones. */
  async goAway() {
    if (!this.#server.listening) return;
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.cut();
    await closed;
  }

  /** Takes connections again, at the same port. */
  async comeBack() {
    this.#server.listen(this.#port, '127.0.0.1');
    await once(this.#server, 'listening');
    this.#port = /** @type {import('node:net').AddressInfo} */ (this.#server.address()).port;
  }

  /** @param {Socket} near */
  #accept(near) {
    const far = connect(this.#target.port, this.#target.host);
    const link = new Link(near, far, () => this.#links.delete(link));
    this.#links.add(link);
    if (this.#freezesNewcomers) link.freeze();
  }
}
