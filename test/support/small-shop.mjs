const COLORS = ['black', 'blue', 'green', 'red'];
const SIZES = ['small', 'medium', 'large'];
const KINDS = ['running shoes', 'rain jacket', 'cotton shirt', 'desk lamp', 'travel mug', 'yoga mat'];
const MAKES = ['light', 'sturdy', 'soft', 'classic', 'compact'];
const PAGE_SIZE = 10;
const SEPARATOR = ' [SEP] ';

/** All products; their numbers look as those of the shop that WebShop was scraped from. */
const PRODUCTS = KINDS.flatMap((kind, place) =>
  MAKES.map((make, number) => ({
    asin: `B0${place}${number}RETR4C`,
    title: `${make} ${kind}`,
    kind,
    make,
    price: 10 + 7 * place + 3 * number,
  })),
);

/**
 * A shop with WebShop's pages in text, its actions `search[words]` and `click[button]`, and its reward: the share of the wished kind, make and
 * options that the bought product has, with the price. A page is the texts of its elements, joined by `[SEP]`.
 */
export class SmallShop {
  /** Starts a session with the wish of a number. Returns the page. */
  reset(number) {
    const wished = PRODUCTS[number % PRODUCTS.length];
    const place = Math.floor(number / PRODUCTS.length);
    this.wish = {
      ...wished,
      color: COLORS[place % COLORS.length],
      size: SIZES[place % SIZES.length],
      most: wished.price + 10,
    };
    this.view = { at: 'search' };
    this.chosen = {};
    return this.page;
  }

  get instruction() {
    const { title, color, size, most } = this.wish;
    return `Instruction: ${SEPARATOR.trim()} Find me a ${title} with color: ${color}, and size: ${size}, and price lower than ${most}.00 dollars`;
  }

  get page() {
    const { at } = this.view;
    if (at === 'search') return ['WebShop', this.instruction, 'Search'].join(SEPARATOR);
    if (at === 'end')
      return ['Thank you for shopping with us!', 'Your code:', 'None', 'Paste it in your MTurk interface.'].join(SEPARATOR); // oxfmt-ignore
    if (at === 'results') return this.resultsPage;
    const { title, price } = this.view.product;
    const options = ['color', ...COLORS, 'size', ...SIZES];
    return [this.instruction, 'Back to Search', '< Prev', ...options, title, `Price: $${price}.0`, `Rating: N.A.`, 'Description', 'Features', 'Reviews', 'Buy Now'].join(SEPARATOR); // oxfmt-ignore
  }

  get resultsPage() {
    const { found, page } = this.view;
    const shown = found.slice((page - 1) * PAGE_SIZE, page * PAGE_SIZE);
    const total = `Page ${page} (Total results: ${found.length})`;
    const next = page * PAGE_SIZE < found.length ? ['Next >'] : [];
    const products = shown.flatMap(({ asin, title, price }) => [asin, title, `$${price}.0`]);
    return [this.instruction, 'Back to Search', total, ...next, ...products].join(SEPARATOR);
  }

  /** As the server's route tells them. */
  get availableActions() {
    const { at } = this.view;
    if (at === 'search') return { has_search_bar: true, clickables: ['search'] };
    if (at === 'end') return { has_search_bar: false, clickables: [] };
    if (at === 'results') {
      const { found, page } = this.view;
      const shown = found
        .slice((page - 1) * PAGE_SIZE, page * PAGE_SIZE)
        .map(({ asin }) => asin.toLowerCase());
      const next = page * PAGE_SIZE < found.length ? ['next >'] : [];
      return { has_search_bar: false, clickables: ['back to search', ...next, ...shown] };
    }
    const buttons = ['back to search', '< prev', 'description', 'features', 'reviews', 'buy now'];
    return { has_search_bar: false, clickables: [...buttons, ...COLORS, ...SIZES] };
  }

  /** Takes an action. One that the page does not offer changes nothing, as in WebShop. */
  step(action) {
    const [, verb, argument = ''] = /^(search|click)\[(.*)\]$/.exec(action.trim()) ?? [];
    if (verb === 'search' && this.availableActions.has_search_bar && argument !== '') this.search(argument);
    else if (verb === 'click' && this.availableActions.clickables.includes(argument.toLowerCase()))
      this.click(argument.toLowerCase());
    const done = this.view.at === 'end';
    return { state: this.page, reward: done ? this.reward : 0, done };
  }

  search(words) {
    const asked = words.toLowerCase().split(/\W+/);
    const hits = ({ title }) => title.split(' ').filter((word) => asked.includes(word)).length;
    const found = PRODUCTS.filter((product) => hits(product) > 0).sort((a, b) => hits(b) - hits(a));
    this.view = { at: 'results', found, page: 1 };
  }

  click(button) {
    const { view } = this;
    if (button === 'search') return;
    if (button === 'back to search') this.view = { at: 'search' };
    else if (button === 'next >') this.view = { ...view, page: view.page + 1 };
    else if (button === '< prev') this.view = view.results;
    else if (button === 'buy now') this.view = { at: 'end', product: view.product };
    else if (view.at === 'results') {
      this.chosen = {};
      const product = view.found.find(({ asin }) => asin.toLowerCase() === button);
      this.view = { at: 'product', product, results: view };
    } else if (COLORS.includes(button)) this.chosen.color = button;
    else if (SIZES.includes(button)) this.chosen.size = button;
  }

  get reward() {
    const { product } = this.view;
    const { wish, chosen } = this;
    if (product.kind !== wish.kind) return 0;
    const met = [
      product.make === wish.make,
      chosen.color === wish.color,
      chosen.size === wish.size,
      product.price <= wish.most,
    ];
    return met.filter(Boolean).length / met.length;
  }
}
