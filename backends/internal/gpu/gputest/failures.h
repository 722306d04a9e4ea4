/* Calls that are to fail, of the tests' driver and of their NCCL, each of which has its own. */
#ifndef GPUTEST_FAILURES_H
#define GPUTEST_FAILURES_H

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_FAILURES = 16 };

static struct {
    pthread_mutex_t lock;
    int count, lasting; /* the error of one that was for good */
    struct {
        char symbol[48];
        int nth, code, seen, good;
    } all[MOST_FAILURES];
} failures = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* fail has calls fail, instead of those that were to fail: a text of the form symbol:n:code[+][,...], of a variable. */
static void fail(const char *variable, const char *text) {
    pthread_mutex_lock(&failures.lock);
    failures.count = failures.lasting = 0;
    for (; text != NULL && *text && failures.count < MOST_FAILURES; failures.count++) {
        memset(&failures.all[failures.count], 0, sizeof failures.all[0]);
        char plus = 0;
        if (sscanf(text, "%47[^:]:%d:%d%c", failures.all[failures.count].symbol, &failures.all[failures.count].nth,
                   &failures.all[failures.count].code, &plus) < 3) {
            fprintf(stderr, "%s: %s is not symbol:n:code\n", variable, text);
            abort();
        }
        failures.all[failures.count].good = plus == '+';
        text = strchr(text, ',');
        text = text != NULL ? text + 1 : NULL;
    }
    pthread_mutex_unlock(&failures.lock);
}

/* failing returns the code of a call that is to fail, or 0. */
static int failing(const char *symbol) {
    int code = 0;
    pthread_mutex_lock(&failures.lock);
    for (int i = 0; i < failures.count; i++)
        if (strcmp(failures.all[i].symbol, symbol) == 0 && ++failures.all[i].seen == failures.all[i].nth) {
            code = failures.all[i].code;
            failures.lasting = failures.all[i].good ? code : failures.lasting;
        }
    pthread_mutex_unlock(&failures.lock);
    return code;
}

/* lasting returns the code of a call that failed for good, or 0. */
static inline int lasting(void) {
    pthread_mutex_lock(&failures.lock);
    int code = failures.lasting;
    pthread_mutex_unlock(&failures.lock);
    return code;
}

#endif
