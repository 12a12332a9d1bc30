// Keeps the token of this tab, and nowhere else: it is gone when the tab is.

const TOKEN = "agrajag.token";

export const session = {
  get token() {
    return sessionStorage.getItem(TOKEN);
  },
  signIn(token) {
    sessionStorage.setItem(TOKEN, token);
  },
  signOut() {
    sessionStorage.removeItem(TOKEN);
  },
};
