/** The frame of a notebook lends the page its own way to call. */
interface Element {
  likewise?: any;
}
