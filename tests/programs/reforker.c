/* Forks itself without end: each process leaves the work to its child at once. Signals come ignored. */
#include <unistd.h>

int main(void)
{
    for (;;) {
        if (fork() > 0)
            _exit(0);
        setsid();
    }
}
