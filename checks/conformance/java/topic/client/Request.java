package org.apache.bookkeeper.client;

/**
 * What the code has asked for and waits for: {@code what} of a ledger, of none that is there yet if it is 0. {@code of} is what hears
 * the answer.
 */
public final class Request {
    public final String what;
    public final long ledger;
    public final Object of;
    private final Answer answer;

    /** What becomes of it: {@code code} is that of BKException, {@code entries} those that a ledger is closed with. */
    interface Answer {
        void give(int code, int entries);
    }

    Request(String what, long ledger, Object of, Answer answer) {
        this.what = what;
        this.ledger = ledger;
        this.of = of;
        this.answer = answer;
    }

    public void answer(int code, int entries) {
        answer.give(code, entries);
    }
}
