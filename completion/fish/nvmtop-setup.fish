# fish completion of nvmtop-setup.
complete -c nvmtop-setup -f
complete -c nvmtop-setup -l group -x -a '(__fish_complete_groups)' -d 'only the members of this group'
complete -c nvmtop-setup -l remove -d 'restore all permissions'
complete -c nvmtop-setup -l print -d 'print the commands, and do nothing'
complete -c nvmtop-setup -l root -x -a '(__fish_complete_directories)' -d 'use the files below this folder'
complete -c nvmtop-setup -l program -r -F -d 'the nvmtop to query'
complete -c nvmtop-setup -s h -l help -d 'show the usage'
